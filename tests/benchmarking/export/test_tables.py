from benchmarking.export.csv_exporter import CsvExporter
from benchmarking.export.files import cell
from benchmarking.export.tables import tables_of
from definitions.schema import Budget
from tests.benchmarking.experiments import definition
from tests.benchmarking.export.exported import PROGRESSIVE, context, one, rows_of


def test_tables_are_the_csv_files_cell_by_cell(tmp_path):
    found = one(definition(budget=Budget(max_num_trials=3), fidelity=PROGRESSIVE), tmp_path)
    CsvExporter(context()).experiment(found, tmp_path)
    tables = tables_of(found)
    for name in ("trials", "reports", "usage"):
        assert [{column: cell(value) for column, value in row.items()} for row in tables[name].rows] == rows_of(tmp_path / f"{name}.csv")
    assert tables["forecasts"].rows == []
