import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { conditionOf, lastEvent, oneLine } from '../pod-facts.ts';
import type { Mend, Rule } from '../rule.ts';
import type { Snapshot } from '../snapshot.ts';
import { isShort } from '../workload-facts.ts';

export const workloadRefused: Rule = {
  kinds: ['replicasets.apps', 'statefulsets.apps', 'daemonsets.apps', 'jobs.batch'],
  symptom: 'A workload has fewer pods than it should have, and no pod shows why (FailedCreate).',
  cause:
    'The API server refuses its pods because of a quota, a policy, pod security or a webhook, or because a ServiceAccount or PriorityClass does not exist.',
  advice: 'Change the quota, the policy or the field that the message names.',
  find(workload, seen) {
    if (!isShort(workload)) return undefined;
    const condition = conditionOf(workload, 'ReplicaFailure');
    const said =
      condition?.status === 'True'
        ? oneLine(textAt(condition, 'message'))
        : lastEvent(seen.eventsOf(workload), 'FailedCreate');
    if (said === undefined || said === '') return undefined;
    return {
      severity: 'broken',
      says: `its pods are refused: ${reasonIn(said)}`,
      evidence: [said],
      mend: mendOf(said, workload, seen),
    };
  },
};

/** Returns the part of a message after `… is forbidden: `, where the reason is. */
const reasonIn = (said: string) => /is forbidden: (.*)$/.exec(said)?.[1] ?? said;

function mendOf(said: string, workload: JsonObject, seen: Snapshot): readonly Mend[] {
  const { namespace } = metadataOf(workload);
  const place = inNamespace({ namespace });
  const [, quota, requested] = /exceeded quota: ([^,]+), requested: ([^,]+)/.exec(said) ?? [];
  if (quota !== undefined)
    return [
      { command: command`edit quota ${quota}${place}`, about: 'to allow more' },
      { advice: `or remove other objects of namespace ${namespace}, or request less than ${requested}` },
    ];
  const limits = /failed quota: ([^:]+): must specify (.*?)(?: for|;|$)/.exec(said);
  if (limits) return [{ advice: `set ${limits[2]} for every container: the quota ${limits[1]} counts them` }];
  const account = /serviceaccount "?([^" ]+)"? not found/i.exec(said)?.[1]?.replace(/^.*\//, '');
  if (account !== undefined) return [{ command: command`create serviceaccount ${account}${place}` }];
  const priority = /no PriorityClass with name (\S+) was found/.exec(said)?.[1];
  if (priority !== undefined) return [{ command: command`create priorityclass ${priority} --value=1000` }];
  if (/violates PodSecurity/.test(said))
    return [
      { advice: 'set the fields of securityContext that the message names' },
      {
        command: command`label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged --overwrite`,
        about: 'if every pod may run in that namespace',
      },
    ];
  if (/(?:maximum|minimum) \S+ usage per|max limit to request ratio per/.test(said))
    return [
      { advice: 'set resources of the containers within the bounds that the message names' },
      { command: command`get limitrange${place} -o yaml`, about: 'or change the LimitRange that has them' },
    ];
  const webhook =
    /admission webhook "([^"]+)"/.exec(said)?.[1] ?? /failed calling webhook "([^"]+)"/.exec(said)?.[1];
  if (webhook !== undefined)
    return [
      { advice: `the webhook ${webhook} refuses it: change what its message names, or its configuration` },
    ];
  return seen.isRead('events') ? [{ advice: 'change what the message names' }] : [];
}
