/** An account that says so limits its pods to the Secrets that it names (upstream: limitSecretReferences). Pure. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { containerReferences } from '../../api/core/v1/pod-references.ts';
import type { Container, ServiceAccount } from '../../api/core/v1/types.gen.ts';

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets';
/** As Go reads them (strconv.ParseBool). */
const yes = ['1', 't', 'T', 'TRUE', 'true', 'True'];

/** Why the pod is refused; undefined when it is not. */
export function secretProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  const { name, annotations } = account.metadata;
  if (!yes.includes(annotations?.[enforceAnnotation] ?? '')) return undefined;
  const named = (list: ServiceAccount['secrets']) => new Set((list ?? []).map((one) => one.name ?? ''));
  const own = named(account.secrets);
  const refused = (what: string, kind = 'secret') =>
    `${what} is not allowed because service account ${name} does not reference that ${kind}`;
  for (const { secret } of spec.volumes ?? [])
    if (secret && !own.has(secret.secretName ?? ''))
      return refused(`volume with secret.secretName="${secret.secretName}"`);
  const inContainer = (kind: string, container: Container) => {
    const foreign = [...containerReferences(container).secrets].find((secret) => !own.has(secret));
    return foreign === undefined
      ? undefined
      : refused(`${kind} ${container.name} with a variable from secret.secretName="${foreign}"`);
  };
  for (const container of spec.initContainers ?? []) {
    const problem = inContainer('init container', container);
    if (problem) return problem;
  }
  for (const container of spec.containers) {
    const problem = inContainer('container', container);
    if (problem) return problem;
  }
  const pulls = named(account.imagePullSecrets);
  const index = (spec.imagePullSecrets ?? []).findIndex((one) => !pulls.has(one.name ?? ''));
  const pull = spec.imagePullSecrets?.[index];
  return pull && refused(`imagePullSecrets[${index}].name="${pull.name}"`, 'imagePullSecret');
}
