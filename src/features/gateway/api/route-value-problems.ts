/** Values in rules of routes of every kind that cannot be served: names and values of headers. Pure. */
import { expressionProblem } from '../../ingress/api/path-pattern.ts';
import type { ListenerProblem } from './listeners.ts';
import type { HeaderFilter, NamedMatch } from './route-types.ts';

export function first<T>(
  list: readonly T[],
  find: (one: T, index: number) => ListenerProblem | undefined,
): ListenerProblem | undefined {
  for (const [index, one] of list.entries()) {
    const found = find(one, index);
    if (found) return found;
  }
  return undefined;
}

export const within = (place: string, problem: ListenerProblem | undefined) =>
  problem && { ...problem, message: `${place}${problem.message}` };

export const unsupported = (message: string): ListenerProblem => ({ reason: 'UnsupportedValue', message });

export function headerMatchProblem(header: NamedMatch): ListenerProblem | undefined {
  return isHeaderName(header.name)
    ? valueProblem(header)
    : unsupported(`.name: ${header.name} may have letters, digits and '-' only`);
}

export function valueProblem({ type = 'Exact', value }: NamedMatch): ListenerProblem | undefined {
  if (type === 'Exact') return isText(value) ? undefined : unsupported('.value: it has a control character');
  if (type !== 'RegularExpression') return unsupported(`.type: ${type} is not supported`);
  const why = expressionProblem(value);
  return why === undefined ? undefined : unsupported(`.value: ${JSON.stringify(value)} ${why}`);
}

const isHeaderName = (name: string) => /^[A-Za-z0-9-]{1,256}$/.test(name);
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are rejected.
const isText = (value: string) => !/[\u0000-\u001f\u007f]/.test(value);

export const missing = (field: string) => unsupported(`.${field}: it is required for this type`);

/** Headers that frame a message or name its connection: a route must not change them. */
const framing = new Set([
  ...['connection', 'content-length', 'host', 'keep-alive', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

export function headerFilterProblem(
  field: string,
  filter: HeaderFilter | undefined,
): ListenerProblem | undefined {
  if (!filter) return missing(field.slice(1));
  const { set = [], add = [], remove = [] } = filter;
  for (const name of [...set, ...add].map((one) => one.name).concat(remove)) {
    if (!isHeaderName(name))
      return unsupported(`${field}: header ${name} may have letters, digits and '-' only`);
    if (framing.has(name.toLowerCase())) return unsupported(`${field}: header ${name} cannot be changed`);
  }
  return [...set, ...add].every(({ value }) => isText(value))
    ? undefined
    : unsupported(`${field}: a value has a control character`);
}
