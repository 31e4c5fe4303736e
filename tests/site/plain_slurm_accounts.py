# SPDX-License-Identifier: GPL-3.0-or-later
"""The accounts of a site of plain_slurm.py, by sacctmgr(1) (associations, fairshare, flags of QOS) and slurm.conf(5): users
of several accounts, shares of 0 and of the parent, reservations of accounts, standby jobs, partitions with a Priority."""


def draw_more(site, r):
    """Drawn apart, when all else of a site is there. site.assocs: by the name of an association its user, account and
    shares; that of a user's first account has the user's own name."""
    site.assocs = {user: (user, account, shares) for user, (account, shares) in site.users.items()}
    of_jobs = sorted({account for account, _ in site.users.values()})
    for user in site.users if r.random() < 0.5 else []:
        account = r.choice(of_jobs)
        if account != site.users[user][0] and r.random() < 0.5:
            site.assocs[f"{user}@{account}"] = (user, account, r.randint(1, 3) if site.has_assocs else 1)
    if site.has_assocs and r.random() < 0.5:
        site.assocs = {name: (user, account, r.choice([shares, shares, 0, "parent"]))
                       for name, (user, account, shares) in site.assocs.items()}
        site.accounts = {name: (parent, r.choice([shares, shares, shares, 0, "parent"]))
                         for name, (parent, shares) in site.accounts.items()}
    for name in [name for name in site.assocs if "@" in name and site.has_assocs and r.random() < 0.3]:
        site.assoc_limits[name] = {"MaxJobs": r.randint(1, 3)}
    for reservation in site.reservations:
        reservation["accounts"] = r.choice([[], [], [r.choice(of_jobs)]])
    for qos in site.qos.values():
        qos["no_reserve"] = r.random() < 0.2
    for partition in site.partitions.values():
        partition["priority"] = r.choice([None, None, None, 1, 2, 20])
        if partition["priority"]:
            partition["tier"] = partition["factor"] = partition["priority"]
    site.account_rng = r
    site.dampening = r.choice([1, 1, 3])
    site.requeues = r.random() < 0.7
    site.min_age, site.min_priority = r.choice([0, 0, 0, 600, 7200]), r.choice([0, 0, 0, 3000, 20000])


def draw_accounts_of_jobs(site, jobs):
    """Which of a user's accounts each job is of."""
    for job in jobs:
        own = [account for user, account, _ in site.assocs.values() if user == job["user"]]
        job["account"] = site.account_rng.choice(own)


def association_of(site, user, account):
    return user if site.assocs[user][1] == account else f"{user}@{account}"


def shared_by(site, account):
    """The account among whose children those of this one share: with fairshare=parent, that of its parent."""
    while account != "root" and site.accounts[account][1] == "parent":
        account = site.accounts[account][0]
    return account
