"use strict"
const input = document.getElementById("site-search"), list = document.getElementById("site-found"), up = document.body.dataset.up

// A section is as good as the words that it has: in its title they count ten times.
function find(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.length) return []
  const scored = []
  for (const s of window.sections || []) {
    const title = s.t.toLowerCase(), text = s.x.toLowerCase()
    let score = 0
    for (const w of words) {
      const here = (title.includes(w) ? 10 : 0) + (text.includes(w) ? 1 + Math.min(4, text.split(w).length - 2) : 0)
      if (!here) { score = 0; break }
      score += here
    }
    if (score) scored.push([score, s])
  }
  return scored.sort((a, b) => b[0] - a[0]).slice(0, 20).map(([, s]) => s)
}

function show() {
  const found = find(input.value), word = input.value.toLowerCase().split(/\s+/).filter(Boolean)[0]
  list.replaceChildren(...found.map((s) => {
    const item = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small")
    link.href = up + s.p + (s.a ? "#" + s.a : "")
    link.textContent = s.t
    const text = s.x.startsWith(s.t) ? s.x.slice(s.t.length).trim() : s.x, at = Math.max(0, text.toLowerCase().indexOf(word) - 40)
    small.textContent = s.p.replace(".html", "") + " · " + text.slice(at, at + 120)
    link.append(small)
    item.append(link)
    return item
  }))
  if (word && !found.length) list.append(Object.assign(document.createElement("li"), { textContent: "Nothing has all of these words." }))
  list.hidden = !word
}

input.addEventListener("input", show)
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && document.activeElement !== input) { e.preventDefault(); input.focus() }
  if (e.key === "Escape") { list.hidden = true; input.blur() }
  if (e.key === "Enter" && document.activeElement === input && list.firstChild) list.querySelector("a").click()
})
document.getElementById("site-theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
  root.dataset.theme = dark ? "light" : "dark"
  localStorage.setItem("theme", root.dataset.theme)
})
document.body.dataset.ready = "yes"
