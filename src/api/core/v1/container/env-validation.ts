/** A container's environment (upstream: ValidateEnv, validateEnvFrom). */
import { invalidCause, notSupportedCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import {
  checkConfigMapKey,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkQualifiedName,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import { canonicalQuantity, validateQuantity } from '../../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Container, EnvVar } from '../types.gen.ts';

type EnvVarSource = NonNullable<EnvVar['valueFrom']>;
type EnvFromSource = NonNullable<Container['envFrom']>[number];

/** Fields of a pod that its environment can use, in addition to labels and annotations. */
export const downwardFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const downwardMapField = /^metadata\.(?:labels|annotations)\['(.*)'\]$/;
const sourceFields = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

export function validateEnv(env: readonly EnvVar[], path: string): StatusCause[] {
  return env.flatMap((variable, index) => {
    const at = `${path}[${index}]`;
    return [
      ...(variable.name
        ? nameCauses(`${at}.name`, variable.name, checkEnvVarName)
        : [requiredCause(`${at}.name`)]),
      ...(variable.valueFrom ? validateSource(variable, variable.valueFrom, `${at}.valueFrom`) : []),
    ];
  });
}

function validateSource(variable: EnvVar, source: EnvVarSource, path: string): StatusCause[] {
  const set = Object.entries(source).filter(([key, value]) => sourceFields.includes(key) && value);
  const causes: StatusCause[] = [];
  if (set.length === 0)
    causes.push(
      invalidCause(
        path,
        '',
        'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ),
    );
  else if (variable.value)
    causes.push(invalidCause(path, '', 'may not be specified when `value` is not empty'));
  if (set.length > 1)
    causes.push(invalidCause(path, '', 'may not have more than one field specified at a time'));
  if (source.fieldRef)
    causes.push(...validateFieldPath(source.fieldRef.fieldPath, `${path}.fieldRef.fieldPath`));
  if (source.resourceFieldRef)
    causes.push(...validateResourceField(source.resourceFieldRef, `${path}.resourceFieldRef`));
  if (source.configMapKeyRef) causes.push(...validateKey(source.configMapKeyRef, `${path}.configMapKeyRef`));
  if (source.secretKeyRef) causes.push(...validateKey(source.secretKeyRef, `${path}.secretKeyRef`));
  return causes;
}

function validateFieldPath(fieldPath: string, path: string): StatusCause[] {
  if (!fieldPath) return [requiredCause(path)];
  if (downwardFields.includes(fieldPath)) return [];
  const key = downwardMapField.exec(fieldPath)?.[1];
  if (key === undefined) return [notSupportedCause(path, fieldPath, downwardFields)];
  return nameCauses(path, key, checkQualifiedName);
}

/** Resource fields that a container can use, in addition to those of huge pages. */
const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

const wholeDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** Validates the resource field of a variable or a file. */
export function validateResourceField(
  { resource, divisor = '0' }: NonNullable<EnvVarSource['resourceFieldRef']>,
  path: string,
): StatusCause[] {
  if (!resource) return [requiredCause(`${path}.resource`)];
  const [, name = ''] = /^(?:limits|requests)\.(hugepages)-/.exec(resource) ?? [];
  if (!name && !resourceFields.includes(resource))
    return [notSupportedCause(`${path}.resource`, resource, resourceFields)];
  const wrong = validateQuantity(`${path}.divisor`, divisor);
  if (wrong.length > 0) return wrong;
  const isCpu = resource.endsWith('.cpu');
  const allowed = isCpu ? ['1m', '1'] : wholeDivisors;
  const written = canonicalQuantity(divisor);
  if (written === '0' || allowed.includes(written)) return [];
  return [
    invalidCause(
      `${path}.divisor`,
      written,
      `only the divisors ${allowed.join(', ')} are supported for ${resource}`,
    ),
  ];
}

function validateKey(selector: { name: string; key: string }, path: string): StatusCause[] {
  return [
    ...(selector.name ? [] : [requiredCause(`${path}.name`)]),
    ...(selector.key
      ? nameCauses(`${path}.key`, selector.key, checkConfigMapKey)
      : [requiredCause(`${path}.key`)]),
  ];
}

export function validateEnvFrom(sources: readonly EnvFromSource[], path: string): StatusCause[] {
  return sources.flatMap((source, index) => validateEnvSource(source, `${path}[${index}]`));
}

function validateEnvSource({ configMapRef, secretRef, prefix }: EnvFromSource, at: string): StatusCause[] {
  const causes = prefix ? nameCauses(`${at}.prefix`, prefix, checkEnvVarName) : [];
  if (configMapRef) causes.push(...validateReference(configMapRef.name, `${at}.configMapRef.name`));
  if (secretRef) causes.push(...validateReference(secretRef.name, `${at}.secretRef.name`));
  if (!configMapRef && !secretRef)
    causes.push(invalidCause(at, '', 'must specify one of: `configMapRef` or `secretRef`'));
  if (configMapRef && secretRef)
    causes.push(invalidCause(at, '', 'may not have more than one field specified at a time'));
  return causes;
}

const validateReference = (name: string, path: string) =>
  name ? nameCauses(path, name, checkDns1123Subdomain) : [requiredCause(path)];
