"""MkDocs hooks: the Go reference from `go doc`, the help of every command, and search from file:// without other servers.

They need Go and the npm registry. Nothing that is generated is committed.
"""

import hashlib
import html
import io
import re
import subprocess
import tarfile
import tempfile
import urllib.request
from pathlib import Path

from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

TOP = Path(__file__).resolve().parents[1]
MODULE = "github.com/boxsum/boxsum"
PACKAGES = ["", "filter", "threshold", "detect", "match", "histogram", "moments", "products", "haar", "tilted", "rotated", "volume", "store", "zarr", "gpu", "imgio", "papers"]

# Material's offline search loads this from unpkg.com where a page is opened as a file: the site has a copy of its own.
SHIM = "https://unpkg.com/iframe-worker/shim"
SHIM_PACKAGE = "https://registry.npmjs.org/iframe-worker/-/iframe-worker-1.0.4.tgz"
SHIM_SHA256 = "e8c5d12d87829c503afba01d67772ea9f4aba5b7ae57a0c98e1917711030efbb"


def run(*args):
    return subprocess.run(args, cwd=TOP, check=True, capture_output=True, text=True).stdout




def prose(lines):
    """Markdown of a doc comment as go doc prints it: code is indented by four more."""
    out = []
    for line in lines:
        if line.startswith("    ") or not line:
            out.append(line)
        elif line.startswith("# "):
            out.append("#### " + html.escape(line[2:]))
        else:
            out.append(re.sub(r"([\\`*_\[\]<>|])", r"\\\1", line))
    return "\n".join(out).strip("\n")


def go_page(package):
    """Markdown of what `go doc -all` prints of a package."""
    path = f"{MODULE}/{package}".rstrip("/")
    lines = run("go", "doc", "-all", "./" + package).splitlines()
    name = package or "boxsum"
    out = [f"# Package {name}\n", f"    import \"{path}\"\n", f"[{path} on pkg.go.dev](https://pkg.go.dev/{path}) has the examples and the source.\n"]
    i = 1  # the package clause is replaced by the title
    block, kind = [], "doc"
    comment = []

    def flush():
        nonlocal block, comment
        if block:
            code = "\n".join(block).strip("\n")
            found = re.match(r"(?:func (?:\([^)]*?(\w+)(?:\[[^\]]*\])?\) )?(\w+)|type (\w+))", code)
            if found:
                receiver, function, typ = found.groups()
                title = f"{receiver}.{function}" if receiver else function or typ
                out.append(f"### [{title}](https://pkg.go.dev/{path}#{title})\n")
            out.append("```go\n" + code + "\n```\n")
        if comment:
            out.append(prose(comment) + "\n")
        block, comment = [], []

    while i < len(lines):
        line = lines[i]
        if line in ("CONSTANTS", "VARIABLES", "FUNCTIONS", "TYPES"):
            flush()
            out.append(f"## {line.capitalize()}\n")
            kind = "declarations"
        elif kind == "doc":
            comment.append(line)
        elif line and not line.startswith((" ", "\t", ")", "}")):  # a declaration begins
            flush()
            block.append(line)
            while line.endswith(("{", "(")) and not line.startswith(("}", ")")) or (line and lines[i + 1 : i + 2] and block_open(block)):
                i += 1
                line = lines[i]
                block.append(line)
                if not block_open(block):
                    break
        else:
            comment.append(line.removeprefix("    "))
        i += 1
    flush()
    return "\n".join(out)


def block_open(block):
    text = re.sub(r"//.*|\"[^\"]*\"", "", "\n".join(block))
    return text.count("{") > text.count("}") or text.count("(") > text.count(")")


def help_pages():
    out = ["## Help of every command\n"]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder, "boxsum"))
        run("go", "build", "-o", program, "./cmd/boxsum")
        for command in re.findall(r"^  ([a-z]+)  ", run(program, "--help").split("Commands:")[1], re.M):
            out.append(f"### boxsum {command}\n\n```text\n{run(program, command, '--help').rstrip()}\n```\n")
    return "\n".join(out)


def shim():
    with urllib.request.urlopen(SHIM_PACKAGE, timeout=60) as response:
        package = response.read()
    if hashlib.sha256(package).hexdigest() != SHIM_SHA256:
        raise ValueError(f"{SHIM_PACKAGE} is not the package that was pinned")
    with tarfile.open(fileobj=io.BytesIO(package)) as archive:
        return archive.extractfile("package/shim/index.js").read()


def on_files(files, config):
    files.append(File.generated(config, "assets/iframe-worker.js", content=shim()))
    for package in PACKAGES:
        files.append(File.generated(config, f"reference/go/{package or 'boxsum'}.md", content=go_page(package)))
    for page in config.nav:
        for section, pages in page.items():
            if section == "Reference":
                at = next(i for i, p in enumerate(pages) if "Go packages" in p)
                pages[at] = {"Go": ["reference/go.md"] + [{p or "boxsum": f"reference/go/{p or 'boxsum'}.md"} for p in PACKAGES]}
    return files


def on_page_markdown(markdown, page, config, files):
    if page.file.src_uri == "reference/cli.md":
        return markdown.replace("<!-- help -->", help_pages())
    return markdown


def on_page_content(html, page, config, files):
    if page.file.src_uri == "reference/python.md":
        return re.sub(r":(?:func|class|meth|mod|data):(?=<code>)", "", html)
    return html


def on_post_page(output, page, config):
    output = output.replace(' data-md-component="source"', "")  # which would ask GitHub for its stars
    return output.replace(SHIM, get_relative_url("assets/iframe-worker.js", page.url))


def on_post_template(output, template_name, config):
    return output.replace(SHIM, "/assets/iframe-worker.js")
