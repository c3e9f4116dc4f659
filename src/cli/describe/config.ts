/** ConfigMaps, Secrets and service accounts. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Describer, Found } from './describer.ts';
import { headLines, none, sorted } from './lines.ts';

const sizeOf = (base64: unknown) => Buffer.from(String(base64), 'base64').length;

/** Returns the entries of a map, sorted, so that two descriptions can be compared. */
const entriesOf = (map: JsonObject) => sorted(Object.keys(map)).map((key) => [key, map[key]] as const);

export const configMap: Describer = {
  lines: (object) => [
    ...headLines(object),
    '',
    'Data',
    '====',
    ...entriesOf(recordAt(object, 'data')).flatMap(([key, value]) => [`${key}:`, '----', String(value), '']),
    '',
    'BinaryData',
    '====',
    ...entriesOf(recordAt(object, 'binaryData')).map(([key, value]) => `${key}: ${sizeOf(value)} bytes`),
    '',
  ],
};

/** Values are never shown, not even those of tokens, which kubectl prints. */
export const secret: Describer = {
  withoutEvents: true,
  lines: (object) => [
    ...headLines(object),
    '',
    `Type:\t${textAt(object, 'type')}`,
    '',
    'Data',
    '====',
    ...entriesOf(recordAt(object, 'data')).map(([key, value]) => `${key}:\t${sizeOf(value)} bytes`),
  ],
};

export const serviceAccount: Describer = {
  needs: (object) => ({
    secrets: { apiVersion: 'v1', kind: 'Secret', namespace: metadataOf(object).namespace },
  }),
  lines(object, related) {
    const secrets = related('secrets');
    const namesAt = (field: string) => recordsAt(object, field).map((one) => textAt(one, 'name'));
    const tokens = secrets.items.filter((one) => isTokenOf(one, object)).map((one) => metadataOf(one).name);
    return [
      ...headLines(object),
      ...nameLines('Image pull secrets:', namesAt('imagePullSecrets'), secrets),
      ...nameLines('Mountable secrets: ', namesAt('secrets'), secrets),
      ...(secrets.refused
        ? [`Tokens:            \t${secrets.refused}`]
        : nameLines('Tokens:            ', tokens, secrets)),
    ];
  },
};

function isTokenOf(secret: JsonObject, account: JsonObject): boolean {
  const { name, uid } = metadataOf(account);
  const { annotations } = metadataOf(secret);
  return (
    secret.type === 'kubernetes.io/service-account-token' &&
    annotations['kubernetes.io/service-account.name'] === name &&
    annotations['kubernetes.io/service-account.uid'] === uid
  );
}

/**
 * Returns a line for each name. A name without a Secret is marked `(not found)`, unless the user may not read
 * Secrets.
 */
function nameLines(title: string, names: readonly string[], { items, refused }: Found): string[] {
  if (names.length === 0) return [`${title}\t${none}`];
  const existing = new Set(items.map((secret) => metadataOf(secret).name));
  return names.map((name, index) => {
    const missing = refused === undefined && !existing.has(name) ? ' (not found)' : '';
    return `${index === 0 ? title : ' '.repeat(title.length)}\t${name}${missing}`;
  });
}
