import { metadataOf, textAt, valueAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace, kindKeys } from '../kinds.ts';
import type { Rule } from '../rule.ts';

const patienceMs = 20_000;
/** Finalizers of Kubernetes' own controllers, which run in the cluster. */
const own = /^(kubernetes\.io\/|foregroundDeletion$|orphan$|batch\.kubernetes\.io\/)/;

export const finalizer: Rule = {
  kinds: kindKeys.filter((key) => !['pods', 'namespaces', 'events', 'nodes'].includes(key)),
  symptom: 'A deleted object does not disappear.',
  cause: 'A finalizer keeps the object, and the controller of the finalizer does not remove the finalizer.',
  advice: 'Start the controller, or remove the finalizer if it is gone for good.',
  find(object, seen) {
    const { deletionTimestamp, name, namespace } = metadataOf(object);
    if (deletionTimestamp === undefined || seen.nowMs - Date.parse(deletionTimestamp) < patienceMs)
      return undefined;
    const all = valueAt(object, 'metadata', 'finalizers');
    const finalizers = (Array.isArray(all) ? all : []).filter(
      (one): one is string => typeof one === 'string',
    );
    if (finalizers.length === 0) return undefined;
    const foreign = finalizers.filter((one) => !own.test(one));
    const kind = textAt(object, 'kind').toLowerCase();
    return {
      severity: 'degraded',
      says: `it was deleted at ${deletionTimestamp}, and its finalizers keep it: ${finalizers.join(', ')}`,
      mend:
        foreign.length === 0
          ? [{ advice: 'delete the objects that use it first, such as the pods that use a claim' }]
          : [
              { advice: `start the controller that removes ${foreign.join(', ')}` },
              {
                command: command`patch ${kind} ${name}${inNamespace({ namespace })} --type=merge -p '{"metadata":{"finalizers":null}}'`,
                about: 'if that controller is gone for good',
              },
            ],
    };
  },
};
