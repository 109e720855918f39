"""What does the user see and decide on? The screen over the engine; it decides nothing itself.

How a view is built. A view is one module in `views/` with a function `show()`; it reads, loads, frames and draws:

1. read the address: `state.ledger_query()`; every question stands in the address, so that a link shows the same thing;
2. load: a function of `loaders` starts or finds a job, and `states.wait(loaders.jobs(), start)` returns its result or
   draws progress, cancel or the error and returns None (then the view returns);
3. frame: `frames` turns engine values into tidy frames, `charts` a frame into a figure; both know no screen library;
4. draw: words and counts first, then tables, then charts. A verdict is drawn by `widgets.verdict` with what was
   checked and by which means; an absent or broken thing by the function of its name in `widgets.states`.

What a view may not do: arithmetic on verdicts (the engine's), `st.cache_*` (only in `loaders`), changes (only in
`actions`), keys and parameters of its own (only in `state`), `st.html` (only in `widgets.text`), and above all draw
foreign text by anything but `widgets.text`, a table cell of `html.table` or a text cell of `st.dataframe`. Labels,
titles and help texts are literals, or `visible.label(id)`, `visible.count(number)`, `visible.plural(number, noun)`
inside an f-string; a test over the syntax trees of all views holds this.

Grids: at most 100 rows of a page, `key=state.query_key(...)` over the whole query, because a selection is remembered by
row number. An open row is addressed by line and digest, never by its row number.

Every page has a test for each of its states in `tests/views/`, and the hostile session is shown on every page in
`tests/browser/`.
"""
