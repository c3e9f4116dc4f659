/** Kubernetes' named formats: `!format.dns1123Label().validate(self).hasValue()`. */
import {
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  type NameCheck,
} from '../../apimachinery/names.ts';
import { argument, fixed, patternCost, perCharacter, sizeOf } from '../cost/costs.ts';
import { scaled } from '../cost/ranges.ts';
import type { Cost, Declaration } from '../functions/overload.ts';
import { ValueList } from '../values/collections.ts';
import { parseTimestamp } from '../values/time.ts';
import { none, noSuchOverload, Opaque, Optional, type Result, type Value } from '../values/value.ts';
import { uriFault } from './urls.ts';

class Format extends Opaque {
  readonly typeName = 'kubernetes.NamedFormat';
  readonly check: NameCheck;
  /** Length of the pattern that upstream matches, for the cost. */
  readonly patternLength: number;
  constructor(check: NameCheck, patternLength: number) {
    super();
    this.check = check;
    this.patternLength = patternLength;
  }
  equals(other: Opaque): boolean {
    return other === this;
  }
}

/** A prefix may end with a hyphen, since a name is completed by what follows. */
function prefixOf(check: NameCheck): NameCheck {
  return (text) => check(text.endsWith('-') && text.length > 1 ? `${text.slice(0, -1)}a` : text);
}

function judged(holds: (text: string) => boolean, message: string): NameCheck {
  return (text) => (holds(text) ? [] : [message]);
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const date = /^\d{4}-\d{2}-\d{2}$/;

function isDate(text: string): boolean {
  return date.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== undefined;
}

function checkUri(text: string): string[] {
  const fault = uriFault(text);
  return fault === undefined ? [] : [fault];
}

const formats: ReadonlyMap<string, Format> = new Map(
  (
    [
      ['dns1123Label', checkDns1123Label, 30],
      ['dns1123Subdomain', checkDns1123Subdomain, 60],
      ['dns1035Label', checkDns1035Label, 30],
      ['qualifiedName', checkQualifiedName, 60],
      ['dns1123LabelPrefix', prefixOf(checkDns1123Label), 30],
      ['dns1123SubdomainPrefix', prefixOf(checkDns1123Subdomain), 60],
      ['dns1035LabelPrefix', prefixOf(checkDns1035Label), 30],
      ['labelValue', checkLabelValue, 40],
      ['uri', checkUri, 1104],
      ['uuid', judged((text) => uuid.test(text), 'does not match the UUID format'), 72],
      ['byte', judged((text) => base64.test(text), 'invalid base64'), 84],
      ['date', judged(isDate, 'invalid date'), 72],
      ['datetime', judged((text) => parseTimestamp(text) !== undefined, 'invalid datetime'), 72],
    ] satisfies [string, NameCheck, number][]
  ).map(([name, check, length]) => [name, new Format(check, length)]),
);

function validate([format, text]: readonly Value[]): Result {
  if (!(format instanceof Format) || typeof text !== 'string') return noSuchOverload;
  const faults = format.check(text);
  return faults.length === 0 ? none : new Optional(new ValueList(faults));
}

/** Maximum length of a pattern, for the estimate. */
const maxPattern = 128;

const validation: Cost = {
  actual: ([format, text]) =>
    patternCost(sizeOf(text), format instanceof Format ? format.patternLength : maxPattern),
  estimate: (args) => ({ cost: scaled(scaled(argument(args, 1).size, perCharacter), maxPattern * 0.25) }),
};

export const namedFormats: readonly Declaration[] = [
  [
    'format.named(string): optional<kubernetes.NamedFormat>',
    ([name]) => {
      if (typeof name !== 'string') return noSuchOverload;
      const found = formats.get(name);
      return found === undefined ? none : new Optional(found);
    },
    fixed(1),
  ],
  ...Array.from(
    formats,
    ([name, format]): Declaration => [`format.${name}(): kubernetes.NamedFormat`, () => format],
  ),
  ['kubernetes.NamedFormat.validate(string): optional<list<string>>', validate, validation],
];
