/** An account that says so limits its pods to the Secrets that it names (upstream: limitSecretReferences). Pure. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { containerReferences } from '../../api/core/v1/pod-references.ts';
import type { Container, ServiceAccount } from '../../api/core/v1/types.gen.ts';

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets';
/** As Go reads them (strconv.ParseBool). */
const yes = ['1', 't', 'T', 'TRUE', 'true', 'True'];

/** Why containers may not be added to a pod to look into it; undefined when they may. */
export function ephemeralProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  if (!isStrict(account)) return undefined;
  return (spec.ephemeralContainers ?? [])
    .map((container) => containerProblem(account, 'ephemeral container', container))
    .find((problem) => problem !== undefined);
}

/** Why the pod is refused; undefined when it is not. */
export function secretProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  if (!isStrict(account)) return undefined;
  const own = named(account.secrets);
  const foreign = (spec.volumes ?? []).find(({ secret }) => secret && !own.has(secret.secretName ?? ''));
  if (foreign) return refused(account, `volume with secret.secretName="${foreign.secret?.secretName}"`);
  const ofContainers = [
    ...(spec.initContainers ?? []).map((one) => containerProblem(account, 'init container', one)),
    ...spec.containers.map((one) => containerProblem(account, 'container', one)),
  ];
  const problem = ofContainers.find((one) => one !== undefined);
  if (problem) return problem;
  const pulls = named(account.imagePullSecrets);
  const index = (spec.imagePullSecrets ?? []).findIndex((one) => !pulls.has(one.name ?? ''));
  const pull = spec.imagePullSecrets?.[index];
  return pull && refused(account, `imagePullSecrets[${index}].name="${pull.name}"`, 'imagePullSecret');
}

const isStrict = ({ metadata }: ServiceAccount) =>
  yes.includes(metadata.annotations?.[enforceAnnotation] ?? '');

const named = (list: ServiceAccount['secrets']) => new Set((list ?? []).map(({ name = '' }) => name));

const refused = ({ metadata }: ServiceAccount, what: string, kind = 'secret') =>
  `${what} is not allowed because service account ${metadata.name} does not reference that ${kind}`;

function containerProblem(
  account: ServiceAccount,
  kind: string,
  container: Pick<Container, 'env' | 'envFrom' | 'name'>,
): string | undefined {
  const own = named(account.secrets);
  const secrets = [...containerReferences(container as Container).secrets];
  const foreign = secrets.find((secret) => !own.has(secret));
  return foreign === undefined
    ? undefined
    : refused(account, `${kind} ${container.name} with a variable from secret.secretName="${foreign}"`);
}
