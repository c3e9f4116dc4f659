/**
 * Rules for names, as in k8s.io/apimachinery util/validation. Each check returns the reasons why a value is
 * rejected, in minik8s' words; an empty list means that the value is valid.
 */
import { invalidCause } from './field-error.ts';
import type { StatusCause } from './status-error.ts';

export type NameCheck = (value: string) => string[];

const dns1123LabelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const dns1123SubdomainPattern = `${dns1123LabelPattern}(\\.${dns1123LabelPattern})*`;
const wildcardSubdomainPattern = `\\*\\.${dns1123SubdomainPattern}`;
const dns1035LabelPattern = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedNamePattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValuePattern = `(${qualifiedNamePattern})?`;
const cIdentifierPattern = '[A-Za-z_][A-Za-z0-9_]*';

/**
 * Compiles a pattern for the whole text with non-capturing groups, which match faster than capturing ones.
 */
const whole = (pattern: string) => new RegExp(`^(?:${pattern.replaceAll('(', '(?:')})$`);

const dns1123Label = whole(dns1123LabelPattern);
const dns1123Subdomain = whole(dns1123SubdomainPattern);
const wildcardSubdomain = whole(wildcardSubdomainPattern);
const dns1035Label = whole(dns1035LabelPattern);
const qualifiedName = whole(qualifiedNamePattern);
const labelValue = whole(labelValuePattern);
const cIdentifier = whole(cIdentifierPattern);
const printableButEquals = /^[ -<>-~]+$/;

const tooLong = (max: number) => `must be no more than ${max} characters`;
const emptyText = 'must be non-empty';

const matching = (pattern: string) => `(it has to match '${pattern}')`;
const badDns1123Label = `a lowercase RFC 1123 label holds a-z, 0-9 and '-', its first and last being a letter or digit, such as 'web-1' ${matching(dns1123LabelPattern)}`;
const badDns1123Subdomain = `a lowercase RFC 1123 subdomain is made of labels joined by '.', each of a-z, 0-9 and '-' with a letter or digit first and last, such as 'web.example.com' ${matching(dns1123SubdomainPattern)}`;
const badWildcardSubdomain = `a wildcard DNS-1123 subdomain is '*.' and behind it a subdomain, such as '*.example.com' ${matching(wildcardSubdomainPattern)}`;
const badDns1035Label = `a DNS-1035 label holds a-z, 0-9 and '-', begins with a letter and does not end with '-', such as 'web-1' ${matching(dns1035LabelPattern)}`;
const badNamePart = `must consist of letters, digits, '-', '_' and '.', its first and last being a letter or digit, such as 'Web.tier_1' ${matching(qualifiedNamePattern)}`;
const badLabelValue = `a valid label is empty, or holds letters, digits, '-', '_' and '.', its first and last being a letter or digit, such as 'Blue_2' ${matching(labelValuePattern)}`;
const badCIdentifier = `a valid C identifier holds letters, digits and '_', and does not begin with a digit, such as 'LOG_LEVEL' ${matching(cIdentifierPattern)}`;

/**
 * Maximum length of a text that is matched; a longer one is only reported as too long, since matching takes
 * time for each character.
 */
const longest = 1024;

/**
 * Checks length and pattern. Kubernetes counts bytes; every accepted character is ASCII, so counts differ
 * only for rejected values.
 */
function lengthThenPattern(value: string, max: number, pattern: RegExp, bad: string): string[] {
  if (value.length > longest) return [tooLong(max)];
  return [...(value.length > max ? [tooLong(max)] : []), ...(pattern.test(value) ? [] : [bad])];
}

/** Namespaces, containers, volumes: 63 characters of a-z, 0-9 and '-'. */
export const checkDns1123Label: NameCheck = (value) =>
  lengthThenPattern(value, 63, dns1123Label, badDns1123Label);

/** Most object names: labels joined by dots, 253 characters. */
export const checkDns1123Subdomain: NameCheck = (value) =>
  lengthThenPattern(value, 253, dns1123Subdomain, badDns1123Subdomain);

/** Hosts of rules: a subdomain, or a wildcard for all names one label below a subdomain, `*.example.com`. */
export const checkHost: NameCheck = (value) =>
  value.includes('*')
    ? lengthThenPattern(value, 253, wildcardSubdomain, badWildcardSubdomain)
    : checkDns1123Subdomain(value);

/** Services: a DNS label that starts with a letter. */
export const checkDns1035Label: NameCheck = (value) =>
  lengthThenPattern(value, 63, dns1035Label, badDns1035Label);

/** Roles and role bindings: any text that can be one segment of a URL path. */
export const checkPathSegment: NameCheck = (value) => {
  if (value === '.' || value === '..') return [`may not be '${value}'`];
  return ['/', '%'].filter((bad) => value.includes(bad)).map((bad) => `may not contain '${bad}'`);
};

/** Label and annotation keys, finalizers, resource names: `[prefix/]name`. */
export const checkQualifiedName: NameCheck = (value) => {
  const parts = value.split('/', 3);
  if (parts.length > 2)
    return [
      `a qualified name ${badNamePart}; an optional prefix may precede it: a DNS subdomain and '/', such as 'example.com/tier'`,
    ];
  const name = parts.at(-1) ?? '';
  const reasons = parts.length === 2 ? prefixReasons(parts[0] ?? '') : [];
  if (name === '') reasons.push(`name part ${emptyText}`);
  else if (name.length > 63) reasons.push(`name part ${tooLong(63)}`);
  if (name.length <= longest && !qualifiedName.test(name)) reasons.push(`name part ${badNamePart}`);
  return reasons;
};

function prefixReasons(prefix: string): string[] {
  if (prefix === '') return [`prefix part ${emptyText}`];
  return checkDns1123Subdomain(prefix).map((reason) => `prefix part ${reason}`);
}

export const checkLabelValue: NameCheck = (value) => lengthThenPattern(value, 63, labelValue, badLabelValue);

export const checkCIdentifier: NameCheck = (value) => (cIdentifier.test(value) ? [] : [badCIdentifier]);

/** Environment variables: any printable ASCII but '=', as Kubernetes allows since 1.32. */
export const checkEnvVarName: NameCheck = (value) => {
  if (value === '') return ['environment variable name must be non-empty'];
  return printableButEquals.test(value)
    ? []
    : ["a valid environment variable name is of printable ASCII characters, without '='"];
};

/** Keys of ConfigMaps and Secrets: each becomes a file name. */
export const checkConfigMapKey: NameCheck = (value) => {
  const reasons = value.length > 253 ? [tooLong(253)] : [];
  if (value.length <= longest && !/^[-._a-zA-Z0-9]+$/.test(value))
    reasons.push(
      `a valid config key must consist of letters, digits, '-', '_' and '.', such as 'app.conf' ${matching('[-._a-zA-Z0-9]+')}`,
    );
  if (value === '.' || value === '..') reasons.push(`must not be '${value}'`);
  else if (value.startsWith('..')) reasons.push("must not start with '..'");
  return reasons;
};

/** The name of a container port or of a port in a Service's targetPort (RFC 6335). */
export const checkPortName: NameCheck = (value) => {
  const reasons = value.length > 15 ? [tooLong(15)] : [];
  if (!/^[-a-z0-9]+$/.test(value))
    reasons.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) reasons.push('must contain at least one letter (a-z)');
  if (value.includes('--')) reasons.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) reasons.push('must not begin or end with a hyphen');
  return reasons;
};

export function checkPortNumber(value: number): string[] {
  return value >= 1 && value <= 65535 ? [] : ['must be between 1 and 65535, inclusive'];
}

/** Returns one Invalid cause for each reason that `check` gives. */
export function nameCauses(path: string, value: string, check: NameCheck): StatusCause[] {
  return check(value).map((reason) => invalidCause(path, value, reason));
}
