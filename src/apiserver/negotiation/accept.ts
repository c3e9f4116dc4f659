/**
 * Negotiates the form of an answer: plain objects, a Table for `kubectl get`, or metadata alone. The first
 * supported range of the Accept header wins, in the order of quality values; among equal values, ranges with
 * a `*` come last (k8s.io/apiserver endpoints/handlers/negotiation, and the goautoneg it uses).
 */
import { protobufType } from '../../apimachinery/protobuf/envelope.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import { maxListHeaderBytes } from '../../http/header-limits.ts';

export type MetaVersion = 'v1' | 'v1beta1';

export type ResponseForm = (
  | { readonly type: 'object' }
  | { readonly type: 'table'; readonly version: MetaVersion }
  | { readonly type: 'metadata'; readonly version: MetaVersion }
) & {
  /** Default JSON. */
  readonly encoding?: 'protobuf' | 'yaml';
  /**
   * The client ignores managedFields, so they may be left out. Requested by `;managedFields=none`, which is
   * minik8s' own parameter.
   */
  readonly unowned?: true;
};

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses an Accept header. Throws 406 for a header that is too long to be parsed. */
export function parseAccept(header: string): MediaRange[] {
  if (header.length > maxListHeaderBytes) {
    throw newStatusError('NotAcceptable', `the Accept header is longer than ${maxListHeaderBytes} bytes`);
  }
  return header
    .split(',')
    .map((range) => {
      const [type, ...rest] = range.split(';').map((part) => part.trim()) as [string, ...string[]];
      const parameters = rest.map((parameter): [string, string] => {
        const equals = parameter.indexOf('=');
        return equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
      });
      return { type: type.toLowerCase(), parameters: new Map(parameters) };
    })
    .filter((range) => range.type !== '');
}

const qualityOf = ({ parameters }: MediaRange) => {
  const quality = Number(parameters.get('q') ?? 1);
  return Number.isNaN(quality) ? 0 : quality;
};

/** Returns the number of wildcards in the type. */
const opennessOf = ({ type }: MediaRange) => (type.startsWith('*') ? 2 : type.endsWith('/*') ? 1 : 0);

const byWish = (a: MediaRange, b: MediaRange) => qualityOf(b) - qualityOf(a) || opennessOf(a) - opennessOf(b);

export const yamlType = 'application/yaml';

const jsonTypes = new Set(['application/json', 'application/*', '*/*']);

const isMetaVersion = (version: string | undefined): version is MetaVersion =>
  version === 'v1' || version === 'v1beta1';

function formOf(range: MediaRange): ResponseForm | undefined {
  const form = shapeOf(range);
  return form && range.parameters.get('managedFields') === 'none' ? { ...form, unowned: true } : form;
}

function shapeOf(range: MediaRange): ResponseForm | undefined {
  const as = range.parameters.get('as');
  if (!as) return { type: 'object' };
  const version = range.parameters.get('v');
  if (range.parameters.get('g') !== 'meta.k8s.io' || !isMetaVersion(version)) return undefined;
  if (as === 'Table') return { type: 'table', version };
  if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
    return { type: 'metadata', version };
  return undefined;
}

/** A Table has no protobuf form, as upstream. */
function protobufFormOf(range: MediaRange): ResponseForm | undefined {
  const form = formOf(range);
  return form && form.type !== 'table' ? { ...form, encoding: 'protobuf' } : undefined;
}

function formIn(range: MediaRange, protobuf: boolean, yaml: boolean): ResponseForm | undefined {
  if (jsonTypes.has(range.type)) return formOf(range);
  if (protobuf && range.type === protobufType) return protobufFormOf(range);
  const form = yaml && range.type === yamlType ? formOf(range) : undefined;
  return form && { ...form, encoding: 'yaml' };
}

export interface Offer {
  /** Forms that the endpoint supports; defaults to all. */
  readonly forms?: readonly ResponseForm['type'][] | undefined;
  /** True if the answer has a protobuf form. */
  readonly protobuf?: boolean;
  /** True if the answer can be YAML; false for a watch. */
  readonly yaml?: boolean;
}

/** Headers that most clients send to get plain objects; they are not parsed each time. */
const plain = new Set(['application/json', '*/*', 'application/json, */*']);

/** Returns the first supported form. Throws 406 if there is none. */
export function negotiateForm(accept: string | null | undefined, offer: Offer = {}): ResponseForm {
  const { forms = ['object', 'table', 'metadata'], protobuf = false, yaml = false } = offer;
  if (accept && plain.has(accept) && forms.includes('object')) return { type: 'object' };
  const ranges = parseAccept(accept ?? '');
  if (ranges.length === 0) return { type: 'object' };
  for (const range of ranges.sort(byWish)) {
    const form = formIn(range, protobuf, yaml);
    if (form && forms.includes(form.type)) return form;
  }
  const json = [
    'application/json',
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  ];
  throw newStatusError(
    'NotAcceptable',
    `only the following media types are accepted: ${[...json, ...(yaml ? [yamlType] : []), ...(protobuf ? [protobufType] : [])].join(', ')}`,
  );
}
