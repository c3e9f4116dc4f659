import { setOwn } from '../../../apimachinery/equality.ts';
import { invalidCause, requiredCause, tooLongCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { base64Bytes, maxDataBytes, toBase64, validateDataKeys, validateImmutableData } from './data.ts';
import { accountNameAnnotation, serviceAccountTokenType } from './service-account/secret.ts';
import type { Secret } from './types.gen.ts';

export type { Secret } from './types.gen.ts';

/** Keys that a typed secret must have (upstream: ValidateSecret). */
const keysOfType: ReadonlyMap<string, readonly string[]> = new Map([
  ['kubernetes.io/dockercfg', ['.dockercfg']],
  ['kubernetes.io/dockerconfigjson', ['.dockerconfigjson']],
  ['kubernetes.io/ssh-auth', ['ssh-privatekey']],
  ['kubernetes.io/tls', ['tls.crt', 'tls.key']],
]);

/** Types whose only key holds JSON. */
const jsonTypes: ReadonlySet<string> = new Set(['kubernetes.io/dockercfg', 'kubernetes.io/dockerconfigjson']);

function mergeStringData(secret: Secret): void {
  if (!secret.stringData) return;
  secret.data ??= {};
  for (const [key, text] of Object.entries(secret.stringData)) setOwn(secret.data, key, toBase64(text));
  delete secret.stringData;
}

function validateData({ data = {} }: Secret): StatusCause[] {
  const bytes = Object.values(data).reduce((sum, text) => sum + base64Bytes(text), 0);
  return [
    ...validateDataKeys(data, 'data'),
    ...(bytes > maxDataBytes ? [tooLongCause('data', maxDataBytes)] : []),
  ];
}

function validateType({ type, data = {}, metadata }: Secret): StatusCause[] {
  if (type === serviceAccountTokenType && !metadata.annotations?.[accountNameAnnotation])
    return [requiredCause(`metadata.annotations[${accountNameAnnotation}]`)];
  if (type === 'kubernetes.io/basic-auth' && !('username' in data) && !('password' in data))
    return [requiredCause('data[username]'), requiredCause('data[password]')];
  const keys = keysOfType.get(type) ?? [];
  return [
    ...keys.filter((key) => !Object.hasOwn(data, key)).map((key) => requiredCause(`data[${key}]`)),
    ...(jsonTypes.has(type) ? keys.flatMap((key) => validateJson(key, data[key])) : []),
  ];
}

/**
 * Returns a cause unless the value is a JSON object or null. Never quotes the value, which contains
 * passwords.
 */
function validateJson(key: string, value: string | undefined): StatusCause[] {
  if (value === undefined) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(value, 'base64').toString());
  } catch {
    parsed = undefined;
  }
  const valid = typeof parsed === 'object' && !Array.isArray(parsed);
  return valid ? [] : [invalidCause(`data[${key}]`, '<secret contents redacted>', 'must be a JSON object')];
}

export const secretResource: ResourceDefinition<Secret> = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  singular: 'secret',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.Secret',
  rules: {
    'core.v1.Secret': { defaults: { type: 'Opaque' } },
  },
  strategy: {
    setDefaults: mergeStringData,
    validate: (secret) => [...validateData(secret), ...validateType(secret)],
    validateUpdate: (secret, old) => [
      ...(secret.type === old.type ? [] : [invalidCause('type', secret.type, 'field is immutable')]),
      ...validateImmutableData(secret, old, ['data']),
    ],
    countsGenerations: false,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Type',
      type: 'string',
      description: 'The type of the secret, which determines its required keys.',
      cell: (secret) => secret.type,
    },
    {
      name: 'Data',
      type: 'string',
      description: 'The number of keys.',
      cell: (secret) => Object.keys(secret.data ?? {}).length,
    },
    ageColumn,
  ],
  selectableFields: { type: (secret) => secret.type },
  deleteAnswers: 'status',
};
