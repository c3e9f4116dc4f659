/** Decisions about the members of the embedded etcd: which master may join, and which may be removed. */

export interface KnownMember {
  readonly id: string;
  /** Empty for a member that has not started yet. */
  readonly name: string;
  readonly peerUrl: string;
  readonly isLearner: boolean;
  /** True for the member of the master that decides. */
  readonly isOwn: boolean;
  /** True if its etcd answers at `peerUrl`. */
  readonly answers: boolean;
}

/** Identity of a member that a master has from an earlier join. */
export interface MemberIdentity {
  readonly clusterId: string;
  readonly memberId: string;
}

export interface AskedJoin {
  readonly name: string;
  readonly peerUrl: string;
  readonly earlier?: MemberIdentity | undefined;
}

export type JoinPlan =
  /** The master is a member already, and goes on with its data. */
  | { readonly kind: 'is-member'; readonly memberId: string }
  | { readonly kind: 'refuse'; readonly why: string }
  /** The master may join once a member that is joining votes. */
  | { readonly kind: 'wait'; readonly why: string }
  /** The master is added, after the removal of its former members, whose data are lost. */
  | { readonly kind: 'add'; readonly replaced: readonly string[] };

/** Maximum number of members: more would make each write slower, and help against no usual failure. */
const maxMembers = 7;

const refuse = (why: string) => ({ kind: 'refuse', why }) as const;
const shownName = ({ name, peerUrl }: KnownMember) => name || `at ${peerUrl}`;
const removal = (member: KnownMember) => `minik8s masters remove ${member.name || member.id}`;

export function planJoin(members: readonly KnownMember[], clusterId: string, asked: AskedJoin): JoinPlan {
  const { name, peerUrl, earlier } = asked;
  if (earlier?.clusterId === clusterId && members.some(({ id }) => id === earlier.memberId))
    return { kind: 'is-member', memberId: earlier.memberId };
  const same = members.filter((one) => one.name === name || (one.name === '' && one.peerUrl === peerUrl));
  const taken = same.find(({ isOwn, answers }) => isOwn || answers);
  if (taken)
    return refuse(
      `a master with the name ${name} runs at ${taken.peerUrl}: give the new one another --master-name, or stop that one`,
    );
  const others = members.filter((one) => !same.includes(one));
  const atAddress = others.find((one) => one.peerUrl === peerUrl);
  if (atAddress)
    return refuse(
      `the master ${shownName(atAddress)} has the address ${peerUrl}: join under its name (--master-name), or run ${removal(atAddress)} first`,
    );
  const learner = others.find(({ isLearner }) => isLearner);
  if (learner)
    return {
      kind: 'wait',
      why: `the master ${shownName(learner)} is joining: wait until minik8s masters list shows it as a voter, or run ${removal(learner)}`,
    };
  const silent = others.find(({ isOwn, answers }) => !isOwn && !answers);
  if (silent)
    return refuse(
      `the master ${shownName(silent)} does not answer at ${silent.peerUrl}: start it, or run ${removal(silent)}, before another one joins`,
    );
  if (others.length >= maxMembers)
    return refuse(`the cluster has ${others.length} masters, which is the maximum: remove one first`);
  return { kind: 'add', replaced: same.map(({ id }) => id) };
}

export type RemovalPlan =
  | { readonly kind: 'refuse'; readonly why: string }
  | { readonly kind: 'remove'; readonly id: string };

/** `wanted` is the name or the id of a member. */
export function planRemoval(members: readonly KnownMember[], wanted: string): RemovalPlan {
  const [member, ...more] = members.filter(({ name, id }) => name === wanted || id === wanted);
  if (!member || more.length > 0)
    return refuse(
      member
        ? `several masters have the name ${wanted}: give the id that minik8s masters list shows`
        : `there is no master ${wanted}: the masters are ${members.map(shownName).join(', ')}`,
    );
  const voters = members.filter(({ isLearner }) => !isLearner);
  if (member.isLearner) return { kind: 'remove', id: member.id };
  if (voters.length === 1) return refuse(`${wanted} is the only master: minik8s reset removes the cluster`);
  if (member.isOwn)
    return refuse(
      `${wanted} is the master of this machine: run this on another master, or minik8s reset here`,
    );
  const problem = problemWithout(voters, member);
  return problem === undefined ? { kind: 'remove', id: member.id } : refuse(problem);
}

/** Returns why the member that decides cannot leave the others; undefined if it can. */
export function planLeaving(members: readonly KnownMember[]): string | undefined {
  const own = members.find(({ isOwn }) => isOwn);
  return (
    own &&
    problemWithout(
      members.filter(({ isLearner }) => !isLearner),
      own,
    )
  );
}

/** Returns why the voters without `member` would have no majority that answers; undefined if they would. */
function problemWithout(voters: readonly KnownMember[], member: KnownMember): string | undefined {
  const left = voters.filter((one) => one !== member);
  const silent = left.filter(({ isOwn, answers }) => !isOwn && !answers);
  const answering = left.length - silent.length;
  if (answering >= Math.floor(left.length / 2) + 1) return undefined;
  return `without ${shownName(member)}, ${answering} of ${left.length} masters would answer, which is no majority: start ${silent.map(shownName).join(', ')} first`;
}

/** Returns etcd's --initial-cluster for a member that joins the others. */
export function initialCluster(
  members: readonly Pick<KnownMember, 'id' | 'name' | 'peerUrl'>[],
  own: { readonly memberId: string; readonly name: string },
): string {
  // etcd takes members with equal names for one; a name here need not be that of the running member.
  const nameOf = ({ id, name }: Pick<KnownMember, 'id' | 'name'>) =>
    id === own.memberId ? own.name : `${name}.${id}`;
  return members.map((member) => `${nameOf(member)}=${member.peerUrl}`).join(',');
}
