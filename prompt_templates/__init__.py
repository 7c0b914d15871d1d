"""Versioned prompt templates: `focus_mode/v1` is `focus_mode/v1.md.j2`; `families.toml` names those of each family of
models."""

from prompt_templates.loader import PromptTemplate, load_template, released_templates, template_for

__all__ = ["PromptTemplate", "load_template", "released_templates", "template_for"]
