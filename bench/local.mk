# bench: measurements, run by hand.
EXTRA_DIST += bench/peers.sh
