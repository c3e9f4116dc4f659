/**
 * Limits the pods of an annotated ServiceAccount to the Secrets that the account lists (upstream:
 * limitSecretReferences). Pure.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { containerReferences } from '../../api/core/v1/pod/references.ts';
import type { Container, ServiceAccount } from '../../api/core/v1/types.gen.ts';

const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets';
/** Values that Go's strconv.ParseBool reads as true. */
const yes = ['1', 't', 'T', 'TRUE', 'true', 'True'];

/** Returns why ephemeral containers are rejected; undefined if they are allowed. */
export function ephemeralProblem({ spec }: Pod, account: ServiceAccount): string | undefined {
  if (!isStrict(account)) return undefined;
  return (spec.ephemeralContainers ?? [])
    .map((container) => containerProblem(account, 'ephemeral container', container))
    .find((problem) => problem !== undefined);
}

/** Returns why the pod is rejected; undefined if it is allowed. */
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
