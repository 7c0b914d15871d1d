"""`POST /api/v1/ai/stream`: a question, or the messages of a chat hook, and the events that come back."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.schemas.answer import ClosedModel
from api.schemas.query import QUESTION_CHARS, Context, Options

StreamForm = Annotated[
    Literal["events", "ui-message-stream"],
    Field(description="events as named below, or the UI message stream protocol of the AI SDK"),
]


class ChatPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = ConfigDict(extra="allow", frozen=True)
    type: str = Field(max_length=100, description="`text` is read, anything else is not", examples=["text"])
    text: str = Field(default="", max_length=QUESTION_CHARS, description="the words, where it is text")


class ChatMessage(BaseModel):
    """A message of a chat."""

    model_config = ConfigDict(extra="allow", frozen=True)
    role: Literal["user", "assistant", "system"] = Field(description="the last one of the user is the question")
    parts: list[ChatPart] = Field(max_length=100, description="in order")


class ChatRequest(BaseModel):
    """The request of a chat hook. Nothing is remembered: the text of the last message, which is the user's, is the
    question."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000, description="the chat so far")
    context: Context = Field(default=Context(), description="what the map shows")
    options: Options = Field(default=Options(), description="how to answer")

    @property
    def question(self) -> str:
        """The text of the last message, if it is the user's."""
        last = self.messages[-1]
        return " ".join(part.text for part in last.parts if part.type == "text") if last.role == "user" else ""


EventId = Annotated[
    str,
    Field(
        max_length=100,
        pattern=r"^[0-9a-f-]{36}\.[0-9]{1,6}$",
        description="the last event that was received",
        examples=["01a202f5-495a-743c-a50a-9e40c359d936.0"],
    ),
]


class StreamEvent(ClosedModel):
    """One Server-Sent Event. `data` is JSON: of `stage` `{"stage"}`, of `sentence` `{"sentence", "citations"}`, of
    `done` the body of `/ai/query`, of `error` an error body; in the UI message stream a part
    of a message, without a name."""

    id: str | None = Field(
        default=None,
        description="what `Last-Event-ID` takes",
        examples=["01a202f5-495a-743c-a50a-9e40c359d936.0"],
    )
    event: Literal["stage", "sentence", "done", "error", "message"] | None = Field(
        default=None, description="what it tells: a step, a sentence, the end or an error", examples=["stage"]
    )
    data: str = Field(description="JSON in one line", examples=['{"stage":"gate"}'])
