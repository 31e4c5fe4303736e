# at 10 ann has used 10 GPU s and bob nothing: c goes before b
--policy fairshare --device ideal --quiet --jobs-csv /dev/stdout tests/golden/users.csv
