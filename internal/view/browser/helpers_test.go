package browser

import "github.com/chromedp/chromedp"

func navigate(view string) []chromedp.Action {
	return []chromedp.Action{chromedp.Evaluate(`location.hash = '#`+view+`'`, nil)}
}
