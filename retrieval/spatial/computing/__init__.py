"""Operations of structured questions over facts, pure."""
