/**
 * The form an answer takes: plain objects, a Table for `kubectl get`, or metadata alone. The first range of
 * the Accept header that can be honoured wins, as in k8s.io/apiserver endpoints/handlers/negotiation; quality
 * values are not weighed there either.
 */
import { newStatusError } from '../../apimachinery/status-error.ts';

export type MetaVersion = 'v1' | 'v1beta1';

export type ResponseForm =
  | { readonly type: 'object' }
  | { readonly type: 'table'; readonly version: MetaVersion }
  | { readonly type: 'metadata'; readonly version: MetaVersion };

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

export function parseAccept(header: string): MediaRange[] {
  return header
    .split(',')
    .map((range) => {
      const [type = '', ...rest] = range.split(';').map((part) => part.trim());
      const parameters = rest.map((parameter): [string, string] => {
        const equals = parameter.indexOf('=');
        return equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
      });
      return { type: type.toLowerCase(), parameters: new Map(parameters) };
    })
    .filter((range) => range.type !== '');
}

const jsonTypes = new Set(['application/json', 'application/*', '*/*']);

const isMetaVersion = (version: string | undefined): version is MetaVersion =>
  version === 'v1' || version === 'v1beta1';

function formOf(range: MediaRange): ResponseForm | undefined {
  if (!jsonTypes.has(range.type)) return undefined;
  const as = range.parameters.get('as');
  if (!as) return { type: 'object' };
  const version = range.parameters.get('v');
  if (range.parameters.get('g') !== 'meta.k8s.io' || !isMetaVersion(version)) return undefined;
  if (as === 'Table') return { type: 'table', version };
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
    return { type: 'metadata', version };
  return undefined;
}

/** Throws 406 when no range can be honoured. `allowed` names the transforms this endpoint knows. */
export function negotiateForm(
  accept: string | undefined,
  allowed: readonly ResponseForm['type'][] = ['object', 'table', 'metadata'],
): ResponseForm {
  const ranges = parseAccept(accept ?? '');
  if (ranges.length === 0) return { type: 'object' };
  for (const range of ranges) {
    const form = formOf(range);
    if (form && allowed.includes(form.type)) return form;
  }
  throw newStatusError(
    'NotAcceptable',
    'only the following media types are accepted: application/json, ' +
      'application/json;as=Table;g=meta.k8s.io;v=v1, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  );
}
