"""Versioned prompt templates: `focus_mode/v1` is `focus_mode/v1.md.j2`."""

from prompt_templates.loader import PromptTemplate, load_template, released_templates

__all__ = ["PromptTemplate", "load_template", "released_templates"]
