/** State of a rotation of the authority, its next step, and its text for people. */

export interface RotationState {
  /** Absent if the authority has never been rotated. */
  readonly phase?: 'trust' | 'issue' | 'finish';
  readonly former?: string;
  readonly next?: string;
  readonly nodes: readonly { readonly name: string; readonly standing?: string }[];
}

/** State of a node that has certificates of the next authority. */
const done = 'done';
const noTrust = 'does not trust the next authority';

/** Returns the nodes for which a rotation in this phase waits, each with the reason; none if it has ended. */
export const lateNodes = ({ phase, nodes }: RotationState): string[] =>
  nodes.flatMap(({ name, standing = '' }) => {
    if (phase !== 'trust' && phase !== 'issue') return [];
    const isLate = phase === 'trust' ? standing === noTrust : standing !== done;
    return isLate ? [`${name} ${standing}`] : [];
  });

/** Returns the next step of a rotation without `--finish`; undefined once the next authority signs. */
export const nextStep = ({ phase }: RotationState): 'trust' | 'issue' | undefined => {
  if (phase === 'issue') return undefined;
  return phase === 'trust' ? 'issue' : 'trust';
};

const phases: Readonly<Record<NonNullable<RotationState['phase']>, string>> = {
  trust: 'trust: the next authority is trusted beside the former one, which still signs',
  issue: 'issue: the next authority signs; the API server keeps its certificate of the former one',
  finish: 'finish: the former authority is no longer trusted',
};

export const advice = `The next authority signs, and all nodes have certificates of it. The former one is trusted until
  minik8s certs rotate-ca --finish
Before that, since it ends what depends on the former authority:
- create kubeconfigs of users anew (minik8s user create NAME --file FILE), and copy admin.conf again
- restart programs in pods that read the authority only at their start (ctl rollout restart)
- create new join lines (minik8s token create): the lines printed before are rejected from then on
`;

/** Returns the state for people. */
export function formatRotation(state: RotationState): string {
  const { phase, former, next, nodes } = state;
  if (phase === undefined) return 'the authority has not been rotated\n';
  const head = [`phase    ${phases[phase]}`, `former   ${former}`, `next     ${next}`];
  const rows = nodes.map(({ name, standing = '' }) => `node     ${name}: ${standing}`);
  return `${[...head, ...rows].join('\n')}\n`;
}
