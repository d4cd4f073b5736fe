from backends.capabilities import Capabilities


def test_a_back_end_can_do_nothing_that_it_does_not_say():
    assert vars(Capabilities()) == {
        "virtual_time": False,
        "checkpoints": False,
        "survives_controller": False,
        "real_money": False,
        "price_label": "",
        "warm_pools": False,
        "endpoints": False,
    }
