/** The conditions of rules as variables of nginx, which are '1' where the condition holds. Pure. */
import type { Condition, Rule, ValueMatch } from './rule.ts';
import type { Variables } from './variables.ts';

/** Returns the variables that must all be '1' for the rule to match a request to one of its paths. */
export function conditionVariables({ path, conditions }: Rule, variables: Variables): readonly string[] {
  const all = conditions.map((condition) => variables.map(...sourceOf(condition), "''"));
  if (path.type !== 'Regex') return all;
  return [variables.map('$uri', [{ pattern: `^(?:${path.path})$`, value: '1' }]), ...all];
}

function sourceOf(condition: Condition): [string, { pattern: string; value: string }[]] {
  if (condition.on === 'method')
    return ['$request_method', [{ pattern: `^${escaped(condition.value)}$`, value: '1' }]];
  const { on, name, value } = condition;
  if (on === 'query') return ['$args', [{ pattern: queryPattern(name, value), value: '1' }]];
  return [headerVariable(name), [{ pattern: `^${valuePattern(value)}$`, value: '1' }]];
}

/** Returns the variable of a request's header. Throws an Error for a name that nginx ignores. */
export function headerVariable(name: string): string {
  if (!/^[A-Za-z0-9-]{1,256}$/.test(name)) throw new Error('a header of the configuration has a bad name');
  return `$http_${name.toLowerCase().replaceAll('-', '_')}`;
}

const valuePattern = (value: ValueMatch) => ('text' in value ? escaped(value.text) : `(?:${value.pattern})`);

/** Returns the pattern for the first parameter of this name. Characters may be encoded in the request. */
function queryPattern(name: string, value: ValueMatch): string {
  const key = encoded(name);
  const wanted = 'text' in value ? encoded(value.text) : `(?:${value.pattern})`;
  return `^(?:(?!${key}(?:=|&|$))[^&]*+&)*+${key}=${wanted}(?:&|$)`;
}

/** Returns the pattern that matches exactly this text. */
export const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** Returns the pattern that matches this text, each character as it is or percent-encoded. */
export const encoded = (text: string): string =>
  [...new TextEncoder().encode(text)]
    .map((byte) => {
      const plain = byte < 0x80 ? `${escaped(String.fromCharCode(byte))}|` : '';
      return `(?:${plain}${byte === 0x20 ? '\\+|' : ''}%${hexPattern(byte)})`;
    })
    .join('');

const hexPattern = (byte: number) =>
  byte
    .toString(16)
    .padStart(2, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
