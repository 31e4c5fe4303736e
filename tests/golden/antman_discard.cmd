# As antman_tail, but what the guest has done is thrown away: from 5 s on all 6 s again
--policy antman --set overflow=off --device ideal --set hbm_bytes=141GB --set preempt=discard --quiet --jobs-csv /dev/stdout tests/golden/guest.csv
