/**
 * The form an answer takes: plain objects, a Table for `kubectl get`, or metadata alone. The first range of
 * the Accept header that can be honoured wins, in the order of quality values, and those with a `*` after the
 * others of the same (k8s.io/apiserver endpoints/handlers/negotiation, and the goautoneg it uses).
 */
import { protobufType } from '../../apimachinery/protobuf/envelope.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import { maxListHeaderBytes } from '../../base/header-limits.ts';

export type MetaVersion = 'v1' | 'v1beta1';

export type ResponseForm = (
  | { readonly type: 'object' }
  | { readonly type: 'table'; readonly version: MetaVersion }
  | { readonly type: 'metadata'; readonly version: MetaVersion }
) & {
  /** Default JSON. */
  readonly encoding?: 'protobuf' | 'yaml';
  /** The client does not look at managedFields: they may be left out. Said by `;managedFields=none`, which is minik8s' own. */
  readonly unowned?: true;
};

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Throws 406 for a header that is too long to be taken apart. */
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

/** How much of the type is left open. */
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

/** Upstream has no Table in protobuf either. */
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
  /** The transforms this endpoint knows; default all. */
  readonly forms?: readonly ResponseForm['type'][] | undefined;
  /** Whether what is answered has a form in protobuf. */
  readonly protobuf?: boolean;
  /** Whether it can be written in YAML: a watch cannot. */
  readonly yaml?: boolean;
}

/** What most clients send that want the object as it is: not taken apart each time. */
const plain = new Set(['application/json', '*/*', 'application/json, */*']);

/** The first range that can be honoured. Throws 406 when there is none. */
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
