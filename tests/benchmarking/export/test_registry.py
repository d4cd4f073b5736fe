from importlib.metadata import EntryPoint

import pytest

from benchmarking.export.csv_exporter import CsvExporter
from benchmarking.export.registry import BUILT_IN, GROUP, exporter_names, make_exporter
from definitions.errors import UserError
from tests.benchmarking.export.exported import context

CSV_AGAIN = EntryPoint("mine", "benchmarking.export.csv_exporter:CsvExporter", GROUP)


def test_a_plug_in_s_format_stands_beside_the_built_in_ones():
    assert exporter_names([CSV_AGAIN]) == (*BUILT_IN, "mlflow", "sagemaker", "mine")
    assert type(make_exporter("mine", context(), [CSV_AGAIN])) is CsvExporter


def test_each_export_has_an_exporter_of_its_own():
    assert make_exporter("csv", context()) is not make_exporter("csv", context())


def test_an_unknown_format_is_answered_with_the_nearest():
    with pytest.raises(UserError, match=r"(?s)--to cvs: there is no such format.*did you mean 'csv'\?") as raised:
        make_exporter("cvs", context(), [])
    assert raised.value.exit_code == 2


def test_two_formats_of_one_name_are_refused_by_name():
    again = EntryPoint("csv", "somewhere:Else", GROUP)
    with pytest.raises(UserError, match=r"(?s)two export formats are called 'csv'.*CsvExporter and somewhere:Else"):
        exporter_names([again])


def test_a_plug_in_that_cannot_be_loaded_is_named():
    broken = EntryPoint("mine", "there_is_no_such_module:X", GROUP)
    with pytest.raises(UserError, match=r"(?s)--to mine: its plug-in there_is_no_such_module:X cannot be loaded.*ModuleNotFoundError"):
        make_exporter("mine", context(), [broken])
