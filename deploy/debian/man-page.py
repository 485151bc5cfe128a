#!/usr/bin/env python3
"""Writes a manual page from what a program says of its own arguments.

    confrelay --experimental-dump-help | man-page.py --version 0.1 > confrelay.1
    confrelay config --experimental-dump-help | man-page.py --version 0.1 > confrelay-config.1
"""

import argparse
import json
import re
import sys


def escaped(text):
    """Text as roff shows it, whatever is in it."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    # A long URL goes on in the next line where its parts end.
    text = re.sub(r"\S{50,}", lambda url: re.sub(r"(?<=[#&,])|(?<=[^:/]/)", r"\\:", url[0]), text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def paragraphs(text):
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text or "") if block.strip()]
    return "\n.PP\n".join(escaped(re.sub(r"\s*\n\s*", "\n", block)) for block in blocks)


def spelled(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def option(argument):
    value = "" if argument["kind"] == "flag" else f" \\fI{escaped(argument.get('valueName', 'value'))}\\fR"
    if argument["kind"] == "positional":
        title = f"\\fI{escaped(argument.get('valueName', 'argument'))}\\fR"
    else:
        title = ", ".join(f"\\fB{escaped(spelled(name))}\\fR" for name in argument["names"]) + value
    # As in --help: the first sentence, the rest, the choices and the default. A default that the text names may be
    # another where the page is read, such as a number of cores.
    words = " ".join(part.strip() for part in [argument.get("abstract") or "", argument.get("discussion") or ""])
    facts = []
    if argument.get("allValues"):
        facts.append("One of " + ", ".join(argument["allValues"]) + ".")
    if argument.get("defaultValue") and "default:" not in words.lower():
        facts.append(f"Default: {argument['defaultValue']}.")
    text = " ".join([words, *facts]).strip()
    return [".TP", title, escaped(re.sub(r"\s+", " ", text))]


def listed(arguments):
    lines, section = [], None
    for argument in arguments:
        if not argument.get("shouldDisplay", True):
            continue
        if argument.get("sectionTitle") != section:
            section = argument.get("sectionTitle")
            if section:
                lines += [f".SS {escaped(section)}"]
        lines += option(argument)
    return lines


def subcommands(command, path):
    """The commands below one, each with its path, without the parser's own help."""
    for child in command.get("subcommands") or []:
        if child["commandName"] != "help":
            yield child, f"{path} {child['commandName']}"
            yield from subcommands(child, f"{path} {child['commandName']}")


def page(command, version, see_also):
    name = command["commandName"]
    title = name.replace(" ", "-")
    children = list(subcommands(command, name))
    lines = [
        f'.TH {escaped(title.upper())} 1 "" "confrelay {escaped(version)}" "User Commands"',
        # Not justified, and no hyphens but those of options and URLs.
        ".ad l", ".nh",
        ".SH NAME", f"{escaped(title)} \\- {escaped((command.get('abstract') or '').rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {escaped(name)}" + (" \\fIcommand\\fR" if children else "") + " [\\fIoptions\\fR]",
    ]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", paragraphs(command["discussion"])]
    if command.get("arguments"):
        lines += [".SH OPTIONS", *listed(command["arguments"])]
    if children:
        lines.append(".SH COMMANDS")
        for child, path in children:
            lines += [f".SS {escaped(path)}", paragraphs(child.get("abstract"))]
            if child.get("discussion"):
                lines += [".PP", paragraphs(child["discussion"])]
            lines += [line if not line.startswith(".SS") else f".PP\n\\fB{line[4:]}\\fR"
                      for line in listed(child.get("arguments") or [])]
    if see_also:
        lines += [".SH SEE ALSO", ",\n".join(f".BR {escaped(other)} (1)" for other in see_also)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Writes a manual page from --experimental-dump-help.")
    parser.add_argument("--version", required=True, help="the program's version")
    parser.add_argument("--see-also", nargs="*", default=[], help="other pages, without their section")
    arguments = parser.parse_args()
    try:
        command = json.load(sys.stdin)["command"]
    except (ValueError, KeyError) as error:
        sys.exit(f"man-page.py: standard input is not what --experimental-dump-help writes: {error}")
    sys.stdout.write(page(command, arguments.version, arguments.see_also))


if __name__ == "__main__":
    main()
