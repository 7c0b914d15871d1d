"""The manifest of the Kansas evaluation: tables of counties, cities and treaties, and counties with editions."""

from __future__ import annotations

MANIFEST = """
[[source]]
path = "population.csv"
source_id = "county-population"
title = "Population of Kansas counties, 1900-1950"
license = "Public domain"

[source.table]
statement = "Population of {name} by census."

[[source.table.entity]]
role = "place"
when = { fips = "20000" }
type = "state"
id = "state:20"
name = "{name}"

[[source.table.entity]]
role = "place"
type = "county"
id = "county:kss_{short|slug}"
name = "{name}"
names = ["{name}, Kansas", "{short}"]

[[source.table.derive]]
name = "short"
from = "{name}"
pattern = "^(.+) County$"

[source.table.observation]
place = "place"
measure = "population"
unit = "people"
statement = "{place} had a population of {value|number} in {year}."

[[source]]
path = "cities.csv"
source_id = "city-population"
title = "Population of cities, 1790-2010"
license = "Public domain"

[source.table]
statement = "{City} is a city in {state}."
point = ["LON", "LAT"]

[[source.table.derive]]
name = "state"
from = "{ST}"
values = { KS = "Kansas", MO = "Missouri", NE = "Nebraska", OK = "Oklahoma", CO = "Colorado" }

[[source.table.derive]]
name = "state_fips"
from = "{ST}"
values = { KS = "20", MO = "29", NE = "31", OK = "40", CO = "08" }

[[source.table.entity]]
role = "city"
type = "city"
id = "city:{ST|slug}-{City|slug}"
name = "{City}"
names = ["{City}, {state}", "{City}, {ST}"]

[[source.table.entity]]
role = "state"
type = "state"
id = "state:{state_fips}"
name = "{state}"

[[source.table.relation]]
subject = "city"
predicate = "located_in"
object = "state"

[source.table.observation]
place = "city"
measure = "population"
unit = "people"
no_figure = ["0"]
statement = "{City}, {state}, had a population of {value|number} in {year}."

[[source]]
path = "treaties.tsv"
source_id = "treaties"
title = "Treaties between the United States and Native nations"
license = "MIT"

[source.table]
statement = "The {nation} signed a treaty[ ({citation})][ on {signed_iso|date}]."
time = "signed_iso"

[[source.table.entity]]
role = "nation"
type = "nation"
id = "nation:{nation|slug}"
name = "{nation}"
names = ["{nation} Nation"]

[[source.table.entity]]
role = "treaty"
type = "treaty"
id = "treaty:{citation|slug}"
name = "Treaty {citation}"
names = ["{citation}"]

[[source.table.relation]]
subject = "nation"
predicate = "signed"
object = "treaty"
time = "signed_iso"

[[source]]
path = "boundaries.geojson"
source_id = "boundaries"
title = "Historical boundaries of Kansas counties"
license = "CC BY-NC-SA 4.0"

[source.features]
feature_id = "edition"
statement = "{name} as it stood in {years}."
time = "years"

[[source.features.entity]]
role = "county"
type = "county"
id = "county:{county}"
name = "{name}"
names = ["{name}, Kansas"]

[[source.features.entity]]
role = "state"
type = "state"
id = "state:20"
name = "Kansas"

[[source.features.relation]]
subject = "county"
predicate = "located_in"
object = "state"
"""
