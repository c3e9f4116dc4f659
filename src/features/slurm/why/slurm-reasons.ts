/** Slurm's reasons for jobs that wait, in words. Pure. */

export interface WaitReason {
  readonly words: string;
  readonly advice: string;
}

const wait = 'wait; it starts when its turn has come';
const askLess = 'ask for less, or choose another partition';

const known: readonly (readonly [RegExp, string, string])[] = [
  [/^Priority$/, 'jobs with a higher priority wait for the same nodes', wait],
  [/^Resources$/, 'the nodes that it asks for are busy', wait],
  [/^Dependency/, 'it waits for another job (--dependency)', wait],
  [/^BeginTime$/, 'its time to begin has not come (--begin)', wait],
  [/^JobHeld/, 'it is held', 'scontrol release JOB on the login host releases it'],
  [/^PartitionDown$|^PartitionInactive$/, 'its partition takes no jobs', 'choose another partition'],
  [/^PartitionNodeLimit$/, 'it asks for more nodes than its partition allows', askLess],
  [/^PartitionTimeLimit$/, 'it asks for more time than its partition allows', 'set a shorter spec.time'],
  [/^ReqNodeNotAvail/, 'nodes that it asks for are down or reserved', askLess],
  [/^BadConstraints$/, 'no node has what it asks for', askLess],
  [/^(?:Assoc|QOS)/, 'a limit of its account or quality of service is reached', askLess],
  [/^Licenses$/, 'it waits for a license', wait],
  [/^NodeDown$/, 'a node that it needs is down', askLess],
  [
    /^Invalid(?:Account|QOS)$/,
    'its account or quality of service is not valid any more',
    'correct spec.account or spec.qos in a new job',
  ],
];

/** Returns the reason in words; the reason itself for an unknown one, and no words for none. */
export function reasonInWords(reason: string): WaitReason {
  if (reason === '' || reason === 'None') return { words: '', advice: wait };
  const found = known.find(([pattern]) => pattern.test(reason));
  return found ? { words: found[1], advice: found[2] } : { words: reason, advice: wait };
}
