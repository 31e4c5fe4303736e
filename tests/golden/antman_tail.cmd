# The guest's 10 x 0.1 s of GPU time are done when the guaranteed job wants the room at 3 s: of its 5 s on
# the host 3 are left when it comes back at 5, so it ends at 8
--policy antman --set overflow=off --device ideal --set hbm_bytes=141GB --quiet --jobs-csv /dev/stdout tests/golden/guest.csv
