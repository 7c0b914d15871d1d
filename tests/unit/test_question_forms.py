"""The router reads the form of a question, never the kind of thing that it asks for: nouns that no rule can hold."""

from __future__ import annotations

import random

import pytest

from ai.text.question_kind import QuestionKind, kind_of

FORMS = {
    QuestionKind.ATTRIBUTE: (
        "Where is {p} located?",
        "Where is the {n} of {p}?",
        "What is the area of the {n} of {p}?",
        "What was the population of {p} in 1930?",
        "How many people live in {p}?",
        "How large is {p}?",
    ),
    QuestionKind.RELATION: (
        "Which {ns} are in {p}?",
        "Which {ns} border {p}?",
        "Which {ns} are within 20 km of {p}?",
        "Which {ns} are north of {p}?",
        "Which {ns} have {ms}?",
        "Which {ns} of {p} have no {ms}?",
        "Which {ns} have more than 30,000 inhabitants?",
        "What {ns} are near {p}?",
        "Find all the {ns} of {p}.",
        "Is {p} south of {q}?",
        "Is {p} in {q}?",
        "Does {p} border {q}?",
        "Are there any {ns} inside {p}?",
        "How far is {p} from {q}?",
        "In which {n} is {p} located?",
        "Which {ns} signed {ms} in 1854?",
    ),
    QuestionKind.AGGREGATE: (
        "How many {ns} are there in {p}?",
        "How many {ns} border {p}?",
        "How many {ns} does {p} have?",
        "How many {ns} have a {m}?",
        "How many {ns} are next to {ms}?",
        "What is the number of {ns} in {p}?",
        "What is the average population of the {ns} of {p}?",
        "What is the total area of the {ns} in {p}?",
        "What percentage of {p} is covered by {ns}?",
    ),
    QuestionKind.SUPERLATIVE: (
        "Which is the largest {n} in {p}?",
        "What is the smallest {n} that borders {p}?",
        "Which {n} of {p} has the most {ms}?",
        "Which {n} is nearest to {p}?",
        "Which 3 {ns} in {p} have the largest population?",
        "Which is the most populated {n} of {p}?",
    ),
    QuestionKind.TEXT: (
        "Who was the first {n} of {p}?",
        "Who founded {p}?",
        "Who led the {ns} against {p}?",
        "Why did {p} join the {ns}?",
        "Why were the {ns} of {p} closed?",
        "When was the {n} of {p} opened?",
        "When did {p} become a {n}?",
        "Where did the name {p} come from?",
        "Where was {p} born?",
        "Where do the {ns} of {p} sleep?",
        "Where does {p} get the {ns} from?",
        "Where was the {n} about {p} filmed?",
        "What does a {n} do?",
        "What is a {n}?",
        "What is the meaning of {n}?",
        "What is the purpose of the {n} in {p}?",
        "What happened to {p} at the end of the {n}?",
        "What did {p} say about the {ns}?",
        "What did the {ns} eat in winter?",
        "What are the four stages of the {n}?",
        "What is the difference between a {n} and a {m}?",
        "What kind of {n} did {p} use?",
        "What led to the {n} of {p}?",
        "What role did {p} play in the {n}?",
        "What {n} was {p} wearing?",
        "Which {n} does {p} use to paint?",
        "Which {n} did {p} write first?",
        "Which {n} proposed the {m} of {p}?",
        "How did {p} get the {n}?",
        "How do {ns} work?",
        "How does a {n} help the {m}?",
        "How was the {n} of {p} built?",
        "How is a {n} made?",
        "Is a {n} better than a {m}?",
        "Did {p} like {ns}?",
        "Describe the {n} of {p}",
        "the meaning of the {n} in {p}",
        "Who said that the {ns} of {p} were lost?",
        "How much were the {ns} paid?",
        "How do I get a {n} for my {m}?",
    ),
}
SYLLABLES = ("gor", "vel", "tim", "sna", "pru", "lod", "bek", "fau", "dri", "mol")


def noun(chance: random.Random) -> str:
    return "".join(chance.sample(SYLLABLES, 2)) + chance.choice("bdklmnpt")


def test_more_forms_stay_with_the_texts_than_leave_them() -> None:
    assert len(FORMS[QuestionKind.TEXT]) > sum(len(forms) for kind, forms in FORMS.items() if kind != QuestionKind.TEXT)


@pytest.mark.parametrize(("kind", "form"), [(kind, form) for kind, forms in FORMS.items() for form in forms])
def test_a_form_is_of_one_kind_whatever_it_asks_for(kind: QuestionKind, form: str) -> None:
    chance = random.Random(form)
    for _ in range(20):
        n, m = noun(chance), noun(chance)
        p, q = noun(chance).title(), f"{noun(chance).title()} {noun(chance).title()}"
        asked = form.format(n=n, ns=f"{n}s", m=m, ms=f"{m}s", p=chance.choice((p, q)), q=q)
        assert kind_of(asked) is kind, asked
