# SPDX-License-Identifier: GPL-3.0-or-later
"""Themis: auctions of leases (Mahajan et al., NSDI 2020, sections 4 and 5). Lots are those of gsim
(xoshiro256**, seeded by splitmix64), since they decide which GPUs are left over."""
import math

WORD = (1 << 64) - 1


class Lots:
    def __init__(self, seed, name):
        x = 0xCBF29CE484222325  # FNV-1a of the name, then the seed; the replication is 0
        for char in name.encode():
            x = ((x ^ char) * 0x100000001B3) & WORD
        state = [self.mix([self.mix([x ^ self.mix([seed])])])]
        self.word = [self.mix(state) for _ in range(4)]

    @staticmethod
    def mix(state):
        state[0] = z = (state[0] + 0x9E3779B97F4A7C15) & WORD
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
        return z ^ (z >> 31)

    def below(self, n):
        """No number beyond the largest multiple of n comes up in a test."""
        def turned(x, by):
            return ((x << by) | (x >> (64 - by))) & WORD
        a, b, c, d = self.word
        drawn = (turned((b * 5) & WORD, 7) * 9) & WORD
        c, d = c ^ a, d ^ b
        self.word = [a ^ d, b ^ c, c ^ ((b << 17) & WORD), turned(d, 45)]
        return drawn % n


def most(bidders, gpus):
    """By GPUs up to these: the largest sum of logarithms."""
    sums = [0.0] * (gpus + 1)
    for job in reversed(bidders):
        sums = [max(job["value"][k] + sums[n - k] for k in range(min(job["gpus"], n) + 1)) for n in range(gpus + 1)]
    return sums


def value(job, now, crowd, n_active, gpus, lease):
    """The logarithm of 1 / rho with each number of GPUs for a lease, and with all that it asks for then."""
    age, full = now - job["submit"], job["speed"][job["gpus"]]
    jobs = (crowd - job["crowd"]) / age if age > 0 else n_active
    fair = job["work"] / full * max(1, jobs * job["gpus"] / gpus)
    job["value"] = []
    for speed in job["speed"]:
        in_lease = speed > 0 and job["left"] / speed <= lease
        end = job["left"] / speed if in_lease else lease + (job["left"] - lease * speed) / full
        job["rho"] = (age + end) / fair  # at last with all
        job["value"].append(-math.log(job["rho"]))


def sell(bidders, gpus, lots):
    """The allotment of the largest product; a winner keeps what the others lose by it."""
    left, all_in = gpus, most(bidders, gpus)[gpus]
    won = []
    for i, job in enumerate(bidders):
        rest = most(bidders[i + 1:], left)
        won.append(max(range(min(job["gpus"], left) + 1), key=lambda k: (job["value"][k] + rest[left - k], -k)))
        left -= won[-1]
    for i, job in enumerate(bidders):
        loss = most(bidders[:i] + bidders[i + 1:], gpus)[gpus] - (all_in - job["value"][won[i]])
        exact = won[i] * math.exp(-max(0, loss))
        job["gets"] = min(won[i], int(exact) + (lots.below(1 << 32) < (exact - int(exact)) * (1 << 32)))
    return gpus - sum(job["gets"] for job in bidders)


def auction(waiting, n_bidders, pool, lots):
    by_need = sorted(waiting, key=lambda job: -job["rho"])
    bidders, others = by_need[:n_bidders], by_need[n_bidders:]
    for job in others:
        job["gets"] = 0
    pool = sell(bidders, pool, lots)
    for few in (others, by_need):
        while pool > 0:
            short = [job for job in few if job["gets"] < job["gpus"]]
            if not short:
                break
            short[lots.below(len(short))]["gets"] += 1
            pool -= 1


def ends(jobs, gpus, fairness, lease, lots, slack=1e-4):
    """Stops wait for the end of an iteration, of some us: events within 0.1 ms are one."""
    now, crowd, coming, active = 0.0, 0.0, list(jobs), []
    while coming or active:
        runs = [job for job in active if job["has"]]
        times = [now + job["left"] / job["speed"][job["has"]] for job in runs] + [job["until"] for job in runs]
        then = min(times + [job["submit"] for job in coming[:1]])
        for job in runs:
            job["left"] -= (then - now) * job["speed"][job["has"]]
            job["end"] = then
        now, crowd = then, crowd + len(active) * (then - now)
        active = [job for job in active if job["left"] > slack * job["speed"][-1] / 2]
        while coming and coming[0]["submit"] <= now + slack:
            active.append(coming.pop(0))
            active[-1].update(left=active[-1]["work"], has=0, until=0, crowd=crowd)
        waiting = [job for job in active if job["has"] == 0 or job["until"] <= now + slack]
        pool = gpus - sum(job["has"] for job in active if job not in waiting)
        if not waiting or pool == 0:
            continue
        for job in waiting:
            value(job, now, crowd, len(active), gpus, lease)
        auction(waiting, max(1, math.ceil((1 - fairness) * len(active) - 1e-9)), pool, lots)
        for job in waiting:
            job.update(has=job["gets"], until=now + lease)


def themis(draw, run):
    """Ends are within 0.2 s. No two jobs come together: then they are equally far
    behind, and the last bit of a ratio decides."""
    gpus, fairness, lease = draw.choice([1, 2, 3, 4, 8]), draw.choice([0, 0.5, 0.8]), draw.choice([300, 1200])
    jobs, rates, submit = [], ["device,model,gpus,iterations_per_s"], 0
    for i in range(draw.choice([1, 2, 4, 8, 15])):
        submit += 1 + draw.choice([draw.randrange(2000000), draw.randrange(200000)])
        speed = [0]
        for k in range(1, draw.randint(1, gpus) + 1):
            speed.append(speed[-1] + draw.randint(10, 100) * 1000 // k)
            rates.append(f"ideal,m{i},{k},{speed[k]}")
        jobs.append({"submit": submit / 1000, "gpus": len(speed) - 1, "speed": speed,
                     "work": draw.randrange(10, 5000) * speed[-1] + draw.randrange(speed[-1])})
    with open("rates.csv", "w") as to:
        to.write("\n".join(rates) + "\n")
    rows = [("job_id", "submit_s", "gpus", "model", "iterations")]
    rows += [(i, job["submit"], job["gpus"], f"m{i}", job["work"]) for i, job in enumerate(jobs)]
    node_gpus = draw.choice([gpus, 1])  # speeds are by GPUs alone
    got = run(rows, "--policy", "themis", "--rates", "rates.csv", "--set", f"f={fairness}", "--set",
              f"lease={lease}s", "--nodes", gpus // node_gpus, "--gpus-per-node", node_gpus, "--seed", 7)
    ends(jobs, gpus, fairness, lease, Lots(7, "themis"))
    return [f"job {row['job_id']} ends at {row['end_s']}, not {job['end']}" for row, job in zip(got, jobs)
            if abs(float(row["end_s"]) - job["end"]) > 0.2]
