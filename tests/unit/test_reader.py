"""The reader: what it is given, what it makes of it, and what happens where it cannot be run."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai.canonical import from_json, to_json
from ai.errors import ReaderUnavailable
from ai.model import Completion, ModelIdentity, SentenceChance, SourceReading
from ai.models.candidates import PARAMETERS
from ai.models.chat_model import ChatRequest
from ai.models.extractive import VERSION, ExtractiveModel
from ai.models.prose import is_prose, prospects
from ai.models.reader.encoding import MOST_PIECES, WINDOW_PIECES, windows_of
from ai.models.reader.features import NAMES
from ai.models.reader.files import DIGESTS, FOLDER
from ai.models.reader.lazy import LazyReader
from ai.models.reader.network import Network
from ai.models.reader.reader import CALIBRATION, Calibration, Reader
from ai.models.reader.reranker import ReaderReranker
from ai.models.reader.told import Reading, Told
from ai.models.reading.versions import RELEASED
from ai.text.catalogue import ABSTAIN, PHRASES
from ai.text.question_type import WantedKind, asks_at_large, offers
from retrieval.model import EntityRef, Intent, Mention, Query, TimeRange
from retrieval.ranking.links import SHARED_MILLI
from retrieval.ranking.reranker import Passage
from retrieval.scope import Scope
from tests.fakes_ai import ScriptedReader, an_item, an_observation
from tests.unit.test_extractive import LOOKUP, request

ABSTAINS = PHRASES[ABSTAIN]
DUST = (
    "The plains had been grassland for ages. Deep ploughing destroyed the grass that held the soil, and in the drought "
    "the wind carried the soil away. Towns gave concerts on Saturdays."
)


def begins(done: Completion) -> str:
    """The first line; what comes closest may follow an abstention."""
    return done.text.partition("\n")[0]


def complete(reader: ScriptedReader | LazyReader, asked: ChatRequest) -> Completion:
    return asyncio.run(ExtractiveModel(reader=reader).complete(asked))


WHY = "What ruined farming on the grass of the prairie?"


def test_it_chooses_what_the_reader_finds_likely_where_the_words_find_nothing() -> None:
    items = [an_item("People of Topeka ask each other many things on Saturdays.", 1), an_item(DUST, 2)]
    asked = request(WHY, items)
    assert asyncio.run(ExtractiveModel().complete(asked)).text == ABSTAINS
    done = complete(ScriptedReader({"ploughing": 800, "People": 90}), asked)
    assert done.text.startswith("Deep ploughing destroyed the grass")
    assert done.text.endswith("[2]")
    assert "Saturdays" not in done.text


BARN = "The storm destroyed the old barn."


def test_the_reader_is_told_whether_words_answer_and_decides() -> None:
    asked = request("What did the storm destroy?", [an_item(BARN)])
    reader = ScriptedReader({"storm": 800})
    assert complete(reader, asked).text == f"{BARN} [1]"
    assert complete(reader, request(WHY, [an_item(DUST)])).text != ABSTAINS
    assert reader.confirmed == [True, False]
    assert complete(ScriptedReader({"storm": 800}, answered=150), asked).text == f"{BARN} [1]"
    assert complete(ScriptedReader({"storm": 800}, answered=149), asked).text == f"{ABSTAINS}\n{BARN} [1]"


def test_candidates_are_confirmed_and_in_release_0_1_replaced() -> None:
    """That one lets the sentences compete by their chances, as it did when it was asked."""
    asked = request("What did the storm destroy?", [an_item(f"{BARN} The gale ruined the mill of the town.")])
    for version, says, least in ((VERSION, BARN, 150), (str(RELEASED), "The gale ruined the mill of the town.", 500)):
        reader = ScriptedReader({"gale": 890, "barn": 300})
        done = asyncio.run(ExtractiveModel(reader=reader, version=version).complete(asked))
        assert done.text.startswith(says), version
        assert done.reading is not None
        assert done.reading.least_milli == least
        assert done.reading.sentences[0].milli == 890


SHED = "The storm wrecked our shed in the yard, Ann said."


@pytest.mark.parametrize(
    ("chances", "said"),
    [
        pytest.param({"barn": 250, "shed": 750}, SHED, id="three times the chance"),
        pytest.param({"barn": 250, "shed": 749}, BARN, id="hardly three times"),
        pytest.param({"barn": 0, "shed": 1}, SHED, id="no chance at all"),
        pytest.param({"barn": 0, "shed": 0}, BARN, id="none has any"),
        pytest.param({"barn": 700, "shed": 100}, BARN, id="the reader agrees"),
    ],
)
def test_a_sentence_that_is_clearly_likelier_comes_before_what_has_more_words(
    chances: dict[str, int], said: str
) -> None:
    asked = request("What did the storm destroy?", [an_item(f"{BARN} {SHED}")])
    assert complete(ScriptedReader(chances, answered=600), asked).text.startswith(said)
    assert begins(complete(ScriptedReader(chances, answered=149), asked)) == ABSTAINS


@pytest.mark.parametrize(("chance", "told"), [(899, True), (300, True), (299, False), (0, False)])
def test_where_the_likeliest_means_something_else_the_next_answers_if_it_comes_near(chance: int, told: bool) -> None:
    wonder, rain = "Prayer was all that the wet years asked for.", "Rain made the rivers rise again."
    reader = ScriptedReader({"Prayer": 900, "Rain": chance}, answered=700)
    done = complete(reader, request("What made the dry years stop?", [an_item(f"{wonder} {rain}")]))
    assert begins(done) == (f"{rain} [1]" if told else ABSTAINS)
    assert wonder not in done.text
    assert done.reading is not None
    assert [each.milli for each in done.reading.sentences] == [900, chance], "what is refused is evidence all the same"


def test_a_question_is_no_answer_to_itself() -> None:
    reader = ScriptedReader({"What": 950, "Between": 180})
    faq = "What is the reach of a full battery? Between 60 and 90 kilometres, says the maker."
    for asked in ("What is the reach of a full battery?", "How far does it go when it has been charged?"):
        done = complete(reader, request(asked, [an_item(faq)]))
        assert done.text.splitlines()[-1] == "Between 60 and 90 kilometres, says the maker. [1]", asked


def test_what_answers_by_its_words_is_read_even_if_it_looks_like_a_heading() -> None:
    heading = "The Storm Destroyed The Old Barn."
    reader = ScriptedReader({"Storm": 800})
    assert complete(reader, request("What did the storm destroy?", [an_item(heading)])).text == f"{heading} [1]"
    ((_, (told,)),) = reader.asked
    assert ([told.sentences[place] for place in told.places], reader.confirmed) == ([heading], [True])


def test_it_abstains_where_the_reader_finds_no_answer_likely_enough() -> None:
    done = complete(ScriptedReader({"ploughing": 800}, answered=499), request(WHY, [an_item(DUST)]))
    assert begins(done) == ABSTAINS
    assert done.reading is not None
    assert (done.reading.answered_milli, done.reading.least_milli) == (499, 500)


@pytest.mark.parametrize(("chance", "shown"), [(800, True), (100, True), (99, False), (0, False)])
def test_what_comes_closest_follows_an_abstention_where_it_has_a_chance(chance: int, shown: bool) -> None:
    done = complete(ScriptedReader({"ploughing": chance}, answered=499), request(WHY, [an_item(DUST)]))
    assert begins(done) == ABSTAINS
    assert ("Deep ploughing" in done.text) is shown


SHOWN = (
    "Visitors may sit in the small garden meanwhile. Nine of us went down the pass. It is steep there. He moved here in 1963, and is buried at "
    "Llanfachreth."
)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param("Where can my wife wait during surgery?", "Visitors may sit", id="none of its words"),
        pytest.param("How many people came along?", "Nine of us", id="an amount of something else"),
        pytest.param("Why are you closed in winter?", "Visitors may sit", id="no reason"),
        pytest.param("Why are children not allowed in?", "Nine of us", id="why not"),
        pytest.param("Where is he buried?", "He moved here", id="leans on the one before"),
    ],
)
def test_the_reader_is_shown_what_words_would_not_let_through(question: str, text: str) -> None:
    reader = ScriptedReader({text: 800})
    assert text in complete(reader, request(question, [an_item(SHOWN)])).text
    sources = request(question, [an_item(SHOWN)]).prompt.sources
    assert not any(
        each.text.startswith(text) for each in prospects(question, Intent(), sources, PARAMETERS, gated=True)
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Why should vinegar be used?", "Never use vinegar, because it attacks the seals."),
        ("Why may we park there?", "Do not park there, since the gate must stay free."),
        ("Which rooms are not heated?", "The hall is heated from October."),
        ("Who may enter except members?", "Members may enter from nine."),
    ],
)
def test_it_is_not_shown_what_forbids_or_says_the_contrary(question: str, text: str) -> None:
    sources = request(question, [an_item(text)]).prompt.sources
    assert prospects(question, Intent(), sources, PARAMETERS) == []


@pytest.mark.parametrize("question", ["What is said about the mill?", "Tell me about the mill."])
def test_where_nothing_in_particular_is_asked_for_words_decide(question: str) -> None:
    reader = ScriptedReader({}, answered=0)
    asked = request(question, [an_item("The mill ground corn for the town.")])
    assert complete(reader, asked).text == asyncio.run(ExtractiveModel().complete(asked)).text != ABSTAINS
    assert not reader.asked


@pytest.mark.parametrize(
    "question", ["What lies here?", "what's here", "What is there in this area?", "What is on the map?"]
)
def test_a_question_about_what_the_map_shows_is_one_at_large(question: str) -> None:
    assert asks_at_large(question)
    assert not asks_at_large(question.rstrip("?") + " that was built in 1903?")


def test_the_reading_is_recorded_by_source_and_place() -> None:
    reader = ScriptedReader({"ploughing": 800})
    done = complete(reader, request(WHY, [an_item(DUST, 3)]))
    assert done.reading is not None
    assert done.reading.sentences[0] == SentenceChance(3, DUST.index("Deep"), 800)
    assert done.reading.reader == reader.digest == done.model.details["reader"]


def test_a_reader_that_cannot_be_run_leaves_the_answer_to_words_and_the_identity_says_so() -> None:
    asked = request(WHY, [an_item(DUST)])
    done = complete(ScriptedReader({}, lack="the reader cannot be run here"), asked)
    plain = asyncio.run(ExtractiveModel().complete(asked))
    assert done.text == plain.text == ABSTAINS
    assert done.reading is None
    assert done.model.details["reader"] == "the reader cannot be run here"
    assert done.model.digest != plain.model.digest


def test_rows_and_operations_are_no_matter_for_it() -> None:
    reader = ScriptedReader({})
    asked = request(
        "What was the population of Shawnee County in 1930?", [an_observation()], Intent(operations=(LOOKUP,))
    )
    assert complete(reader, asked).reading is None
    assert not reader.asked


def test_it_sees_nothing_but_the_question_and_the_admitted_words() -> None:
    reader = ScriptedReader({"ploughing": 800})
    complete(reader, request(WHY, [an_item(DUST)]))
    ((question, (told,)),) = reader.asked
    assert question == WHY
    assert " ".join(told.sentences) == DUST


@pytest.mark.parametrize("text", ["In 1854, it burned.", "It burned in 1854.", "On May 3, 1854, it burned."])
def test_a_year_before_a_comma_is_a_year(text: str) -> None:
    assert offers(text, WantedKind.TIME, "When did it burn?")


@pytest.mark.parametrize("text", ["It cost 1,854 dollars.", "It cost 1854,000 dollars.", "It weighed 1854.5 pounds."])
def test_a_number_with_digits_beside_its_comma_is_no_year(text: str) -> None:
    assert not offers(text, WantedKind.TIME, "When did it burn?")


@pytest.mark.parametrize(
    "text",
    [
        "CHAPTER I. THE TERRITORY OF KANSAS.",
        "The Lecompton Constitution and the English Bill.",
        "Contents . . . . . . . . . . . 12.",
        "Message of President James Buchanan.",
        "The Constitution of the State and of the Territory.",
        "12.",
    ],
)
def test_headings_contents_and_running_heads_are_no_prose(text: str) -> None:
    assert not is_prose(text)


@pytest.mark.parametrize(
    "text",
    [
        "On August 15, 1971, the United States pulled out of the Bretton Woods Accord.",
        "Around 1294, a French version of the Scriptures was prepared by the Roman Catholic priest, Guyard de Moulin.",
        "In 1418 Maciot de Bethencourt sold the islands to Enrique de Guzman, Count of Niebla.",
    ],
)
def test_a_sentence_full_of_names_is_prose(text: str) -> None:
    assert is_prose(text)
    assert not is_prose(text, named=False)


FORT = Intent(mentions=(Mention("Fort Coligny", 0, 12, ()),))
BUILT = (
    "Fort Coligny was built on an island by settlers. They lived there for five years. Then many of them left for home."
)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("The fort was destroyed in the third year of the war.", True),
        ("In the third year of the war it was destroyed by soldiers.", True),
        ("The fort of Santa Ana was destroyed in the war.", False),
        ("Ripley was destroyed in the third year of the war.", False),
        ("The town of Ripley was destroyed in the war.", False),
    ],
)
def test_a_sentence_that_names_nothing_else_is_about_what_its_passage_names(said: str, *, shown: bool) -> None:
    sources = request("q", [an_item(f"{BUILT} {said}")]).prompt.sources
    question = "When was Fort Coligny destroyed?"
    found = [each.text for each in prospects(question, FORT, sources, PARAMETERS)]
    assert (said in found) == shown
    earlier = prospects(question, FORT, sources, PARAMETERS, version=RELEASED)
    assert said not in [each.text for each in earlier]
    elsewhere = request("q", [an_item(f"{BUILT.replace('Coligny', 'Ripley')} {said}")]).prompt.sources
    assert said not in [each.text for each in prospects(question, FORT, elsewhere, PARAMETERS)]


def test_a_sentence_of_another_place_or_year_is_never_shown_to_it() -> None:
    intent = Intent(
        mentions=(Mention("Liberal", 0, 7, (EntityRef("city:l", "Liberal", "city"),)),), times=(TimeRange.year(1936),)
    )
    wrong = [
        "In 1936 dust drifted across Boise City for many days.",
        "In 1935 dust drifted across Liberal for many days.",
    ]
    sources = request("q", [an_item(text, n) for n, text in enumerate(wrong, 1)]).prompt.sources
    assert not prospects("What happened in Liberal in 1936?", intent, sources, PARAMETERS)


@pytest.mark.parametrize("dated", ["By 1936, the soil was gone.", "In 1936 the soil was gone."])
def test_an_undated_sentence_that_names_the_place_is_of_the_year_before_it(dated: str) -> None:
    intent = Intent(
        mentions=(Mention("Liberal", 0, 7, (EntityRef("city:l", "Liberal", "city"),)),), times=(TimeRange.year(1936),)
    )
    text = f"{dated} Photographs show soil in large drifts near Liberal."
    sources = request("q", [an_item(text)]).prompt.sources
    found = prospects("What happened in Liberal in 1936?", intent, sources, PARAMETERS)
    assert "Photographs show soil in large drifts near Liberal." in [each.text for each in found]


def test_a_completion_without_a_reading_is_recorded_as_it_was_before_there_were_readers() -> None:
    plain = Completion("x", ModelIdentity("m", "sha256:0"), 1, 1)
    assert "reading" not in to_json(plain)
    read = replace(plain, reading=SourceReading("sha256:1", 10, 500, (SentenceChance(1, 0, 9),)))
    assert from_json(to_json(read), Completion) == read


@pytest.fixture(scope="session")
def shipped() -> Reader:
    return Reader.load()


def test_the_shipped_reader_prefers_what_answers(shipped: Reader) -> None:
    told = Told("Dust Bowl", tuple(s + "." for s in DUST.rstrip(".").split(". ")), (0, 1, 2))
    read = shipped.read("Why was the soil blown away?", [told])
    assert read.sentences[0].place == 1
    assert all(0 <= each.milli <= 1000 for each in read.sentences)
    assert shipped.read("Why was the soil blown away?", [told]) == read
    other = shipped.read("Who won the chess championship of Norway?", [told])
    assert other.answered_milli < read.answered_milli


def test_a_passage_that_is_not_given_changes_nothing(shipped: Reader) -> None:
    told = Told("Dust Bowl", ("Deep ploughing destroyed the grass.",), (0,))
    alone = shipped.read("What destroyed the grass?", [told])
    assert shipped.read("What destroyed the grass?", [told, Told("Other", (), ())]) == alone
    assert shipped.read("What destroyed the grass?", []) == Reading((), 0)


@given(st.text(max_size=3_000))
def test_any_text_is_read_and_never_past_the_limit(shipped: Reader, text: str) -> None:
    (ids,) = shipped.pieces.read([text])
    assert 2 <= len(ids) <= MOST_PIECES


@given(
    st.lists(st.integers(1, 300), max_size=90),
    st.lists(st.lists(st.integers(1, 300), max_size=90), min_size=1, max_size=12),
    st.data(),
)
def test_every_place_is_read_once_in_a_window_within_the_limit(
    question: list[int], sentences: list[list[int]], data: st.DataObject
) -> None:
    places = sorted(data.draw(st.sets(st.integers(0, len(sentences) - 1), min_size=1)))
    made = windows_of(question, [7, 8], sentences, places)
    assert [place for _, mine in made for place, _ in mine] == places
    for window, mine in made:
        assert len(window.ids) == len(window.kinds) <= WINDOW_PIECES
        for place, at in mine:
            begin, end = window.sentences[at]
            assert list(window.ids[begin:end]) == sentences[place]


def test_a_sentence_longer_than_a_window_is_cut() -> None:
    ((window, mine),) = windows_of([5], [], [[9] * 500], [0])
    assert len(window.ids) <= WINDOW_PIECES
    assert mine == ((0, 0),)


@pytest.mark.parametrize("name", sorted(DIGESTS))
@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_a_file_that_is_not_the_shipped_one_is_not_read(name: str, harm: str, tmp_path: Path) -> None:
    for each in DIGESTS:
        shutil.copy(FOLDER / each, tmp_path)
    if harm == "missing":
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes()[:-1] + b"\0")
    lazy = LazyReader(100, lambda: Reader.load(tmp_path))
    done = complete(lazy, request(WHY, [an_item(DUST)]))
    assert done.text == ABSTAINS
    assert name in lazy.lack == done.model.details["reader"]


def test_a_lower_rate_asks_for_a_higher_chance_and_one_below_all_measured_answers_nothing() -> None:
    calibration = Calibration.load()
    least = [calibration.least(rate) for rate in (49, 50, 100, 150, 200, 500)]
    assert least == sorted(least, reverse=True)
    assert least[0] == 1001
    assert least[3] > calibration.least(175) > least[4]
    assert calibration.least(900) == least[5]
    assert len(calibration.sentence) == len(NAMES) + 1
    assert CALIBRATION in DIGESTS


def test_a_question_over_rows_imports_no_runtime() -> None:
    code = (
        "import asyncio, sys\n"
        "from tests.unit.test_extractive import LOOKUP, an_observation, request\n"
        "from ai.models.extractive import ExtractiveModel\n"
        "from ai.models.reader.lazy import LazyReader\n"
        "from retrieval.model import Intent\n"
        "asked = request('What was the population?', [an_observation()], Intent(operations=(LOOKUP,)))\n"
        "print(asyncio.run(ExtractiveModel(reader=LazyReader(100)).complete(asked)).text)\n"
        "sys.exit('onnxruntime' in sys.modules or 'tokenizers' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, "85,200" in done.stdout) == (0, True), done.stderr


def test_the_reranker_weighs_meaning_and_the_fused_score(shipped: Reader) -> None:
    reranker = ReaderReranker(LazyReader(100, lambda: shipped))
    passages = [
        Passage("", "Concerts were given on Saturdays.", 500),
        Passage("", "Deep ploughing destroyed the grass.", 500),
    ]
    query = Query("What destroyed the grass of the plains?", Scope("default", frozenset()), 5)
    scores = asyncio.run(reranker.score(query, passages))
    assert scores[1] > scores[0]
    assert asyncio.run(reranker.score(query, [])) == []
    leads_on = [
        Passage("Akinoshu Kenji", "Akinoshu Kenji is a wrestler from Hiroshima.", 1000),
        Passage("Sumo", "A wrestler keeps his hair long.", 300),
        Passage("Enola Gay", "The Enola Gay flew to Hiroshima.", 300),
    ]
    asked = Query("What flew to the birthplace of Akinoshu Kenji?", Scope("default", frozenset()), 5)
    first, beside, second = asyncio.run(reranker.score(asked, leads_on))
    assert first > second > beside + SHARED_MILLI // 2, (
        "a passage that shares a rare name with the best one gains by it"
    )
    with pytest.raises(ReaderUnavailable):
        asyncio.run(ReaderReranker(LazyReader(100, lambda: Reader.load(Path("/nowhere")))).score(query, passages))


def test_the_network_refuses_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(ReaderUnavailable):
        Network.load(tmp_path)
