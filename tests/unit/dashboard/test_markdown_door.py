"""Does any page draw foreign text through an element that renders Markdown?

A walk over the syntax trees of the whole dashboard: every argument that the framework draws as Markdown must be a
literal, or a literal with numbers and ids let in by name.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

DASHBOARD = Path(__file__).parents[3] / "dashboard"

# Functions whose text is drawn as Markdown, and which of their arguments are: positions and names.
RENDERS = {
    **dict.fromkeys(
        ("markdown", "write", "caption", "title", "header", "subheader", "error", "warning", "info", "success", "toast",
         "badge", "latex", "exception", "write_stream", "metric", "table", "status", "spinner", "echo"),
        None,
    ),
    **dict.fromkeys(
        ("button", "download_button", "link_button", "form_submit_button", "checkbox", "toggle", "radio", "selectbox",
         "multiselect", "segmented_control", "pills", "slider", "select_slider", "text_input", "number_input",
         "text_area", "date_input", "time_input", "file_uploader", "expander", "popover", "dialog", "feedback",
         "chat_input", "chat_message", "menu_button", "color_picker", "camera_input"),
        0,
    ),
    "tabs": 0,
}  # fmt: skip
NAMES = ("label", "body", "help", "text", "caption", "title", "delta", "delta_description", "icon", "prefix", "suffix")
NAMES_ONLY = (
    "progress",
    "dataframe",
    "plotly_chart",
    "text",
    "code",
    "image",
    "page_link",
    "Page",
    "set_page_config",
    "pagination",
)
LET_IN = {"label", "count", "plural", "size"}
FORBIDDEN = {"html", "iframe", "components", "unsafe_allow_html", "MarkdownColumn", "LinkColumn", "ImageColumn", "chat"}
HTML_DOOR = {"widgets/text.py"}


def literal(node: ast.expr, constants: set[str]) -> bool:
    """Tell whether an expression can only be text that stands in our source, or a number or id let in by name."""
    match node:
        case ast.Constant():
            return True
        case ast.JoinedStr(values=values):
            return all(literal(value, constants) for value in values)
        case ast.FormattedValue(value=ast.Call(func=ast.Attribute(value=ast.Name(id="visible"), attr=attr))):
            return attr in LET_IN
        case ast.Call(func=ast.Attribute(value=ast.Name(id="visible"), attr=attr)):
            return attr in {"label", "count"}
        case ast.IfExp(body=body, orelse=orelse):
            return literal(body, constants) and literal(orelse, constants)
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return all(literal(element, constants) for element in elements)
        case ast.Name(id=name):
            return name in constants
        case _:
            return False


def constants_of(tree: ast.Module) -> set[str]:
    """Return the module constants that are literals."""
    found: set[str] = set()
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper() and literal(value, found):
                found.add(name)
            case _:
                pass
    return found


def drawn(call: ast.Call, name: str) -> list[ast.expr]:
    """Return the arguments of a call that the framework draws as Markdown."""
    named = [k.value for k in call.keywords if k.arg in NAMES or k.arg is None]
    if name in NAMES_ONLY:
        return named
    position = RENDERS[name]
    return named + (list(call.args) if position is None else call.args[position : position + 1])


def leaks(source: str, where: str) -> list[str]:
    """Return every place of a source that could draw foreign text as Markdown or HTML."""
    tree = ast.parse(source)
    constants = constants_of(tree)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamlit":
            found.append(f"{where}:{node.lineno} import")
        if isinstance(node, ast.keyword) and node.arg in {"unsafe_allow_html", "unsafe_allow_javascript"}:
            found.append(f"{where}:{node.value.lineno} {node.arg}")
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN and _screen(node.value):
            if not (node.attr == "html" and where in HTML_DOOR):
                found.append(f"{where}:{node.lineno} {node.attr}")
            continue
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name = node.func.attr
        if name not in RENDERS and name not in NAMES_ONLY:
            continue
        if _own_module(node.func.value):
            continue
        found.extend(f"{where}:{node.lineno} {name}" for bad in drawn(node, name) if not literal(bad, constants))
    return found


def _screen(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name):
            return name not in OWN_MODULES
        case ast.Attribute(attr="column_config"):
            return True
        case _:
            return False


OWN_MODULES = {
    "text", "html", "visible", "verdict", "digest", "findings", "pager", "states", "frames", "charts", "actions",
    "loaders", "links", "state", "theme", "dashboard", "LOG", "sys",
}  # fmt: skip


def _own_module(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="stdout"):
            return name in OWN_MODULES
        case _:
            return False


SOURCES = sorted(DASHBOARD.rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=[str(p.relative_to(DASHBOARD)) for p in SOURCES])
def test_no_foreign_text_is_drawn_as_markdown(path: Path) -> None:
    """Every Markdown-drawing argument in the dashboard is literal."""
    assert leaks(path.read_text(encoding="utf-8"), str(path.relative_to(DASHBOARD))) == []


PLANTED = [
    "st.markdown(row.text)",
    "st.write(x)",
    "st.caption(f'{name}')",
    "st.error(str(error))",
    "st.title('Ledger ' + name)",
    "st.metric('Rows', value)",
    "st.metric(label, 3)",
    "st.table(frame)",
    "st.badge(word)",
    "st.toast(message)",
    "st.progress(0.5, text=step)",
    "st.status(step)",
    "st.expander(name)",
    "st.tabs([name, 'b'])",
    "st.tabs(names)",
    "st.button(label=name)",
    "st.button('ok', help=name)",
    "st.radio(question, ['a'])",
    "st.segmented_control(name, ['a'])",
    "st.selectbox(name, ['a'])",
    "st.page_link(page, label=name)",
    "column.markdown(name)",
    "st.sidebar.write(name)",
    "with_area.container().info(name)",
    "st.html(name)",
    "st.markdown('x', unsafe_allow_html=True)",
    "st.html('x', unsafe_allow_javascript=True)",
    "st.column_config.MarkdownColumn('x')",
    "st.column_config.LinkColumn('x')",
    "st.dialog(name)",
    "st.popover(name)",
    "st.text_input(name)",
    "st.file_uploader(name)",
    "st.download_button(name, b'')",
    "st.subheader(f'{visible.visible(name)}')",
    "st.warning(NAME)",
    "st.info(**values)",
    "st.text('x', help=name)",
    "st.Page(show, title=name)",
    "st.image('x', caption=name)",
    "st.checkbox(f'{name!r}')",
    "st.toggle(name.upper())",
    "from streamlit import markdown",
]


@pytest.mark.parametrize("planted", PLANTED)
def test_the_walk_finds_planted_leaks(planted: str) -> None:
    """Each way of drawing foreign text is caught, so that silence of the walk means something."""
    assert leaks(f"import streamlit as st\n{planted}\n", "views/planted.py")


ALLOWED = [
    "st.title('Ledger')",
    "st.caption(f'{visible.count(rows)} rows')",
    "st.tabs(['a', f'Dropped ({visible.count(n)})'])",
    "st.button(LABEL)",
    "text.title('Ledger', name)",
    "html.table(name, headers, rows)",
    "st.text(name)",
    "st.code(name, language=None)",
    "st.dataframe(frame, key=key)",
    "st.page_link(target(Page.OVERVIEW), label='Back')",
]


@pytest.mark.parametrize("allowed", ALLOWED)
def test_the_walk_lets_plain_drawing_pass(allowed: str) -> None:
    """Literals, counted numbers and the doors for foreign text are no leaks."""
    assert leaks(f"LABEL = 'Go'\n{allowed}\n", "views/planted.py") == []
