/**
 * The meaning of plain words and numbers in YAML, as kubectl and the API server of Kubernetes read them.
 * Their parser is between the versions of YAML: `yes`, `on` and `y` are booleans, 0644, 0o644 and 0b11 are
 * numbers and may contain `_`, as in YAML 1.1; 12:30 and dates stay text, as in YAML 1.2. Measured against
 * kubectl 1.27 to 1.33 (docs/decisions/0024).
 */

/** A rule that recognizes and reads one type of scalar, in the form that the YAML package requires. */
export interface ScalarRule {
  readonly tag: string;
  /** True if the rule applies to plain words; false if it applies only where its tag is written. */
  readonly default: boolean;
  readonly test?: RegExp;
  readonly resolve: (text: string, fail: (message: string) => void) => unknown;
}

const boolean: ScalarRule = {
  tag: 'tag:yaml.org,2002:bool',
  default: true,
  test: /^(?:y|Y|[Yy]es|YES|[Oo]n|ON|[Tt]rue|TRUE|n|N|[Nn]o|NO|[Oo]ff|OFF|[Ff]alse|FALSE)$/,
  resolve: (text) => /^(?:y|on|t)/i.test(text),
};

/** Integers. A leading zero makes octal. Underscores may stand anywhere but at the start. */
const integer: ScalarRule = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^(?:[-+]_*)?(?:0_*[xX]_*[\da-fA-F][\da-fA-F_]*|0_*[oO]_*[0-7][0-7_]*|0_*[bB]_*[01][01_]*|0[0-7_]*|[1-9][\d_]*)$/,
  resolve(text, fail) {
    const plain = text.replaceAll('_', '');
    const sign = /^[-+]?/.exec(plain)?.[0] ?? '';
    const digits = plain.slice(sign.length);
    const size = sizeOf(digits);
    const value = sign === '-' ? -size : size;
    const isSigned64 = BigInt.asIntN(64, value) === value;
    const isUnsigned64 = sign === '' && BigInt.asUintN(64, value) === value;
    // A number beyond 64 bits is read as a decimal fraction, octal or not, and as text if it has letters.
    if (!isSigned64 && !isUnsigned64) return /^\d+$/.test(digits) ? Number(plain) : text;
    // kubectl reads numbers from 2^63 on as fractions, too.
    if (isSigned64 && String(Number(value)) !== String(value)) fail(tooExact(text));
    return Number(value);
  },
};

/** Returns the number that the digits stand for; 2^64 stands for all numbers of more than 64 digits. */
function sizeOf(digits: string): bigint {
  // More than 64 digits exceed 64 bits in any base; the exact size does not matter.
  const isLong = digits.replace(/^0[a-zA-Z]?0*/, '').length > 64;
  if (isLong) return 2n ** 64n;
  return BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
}

const tooExact = (text: string) =>
  `${text} is a whole number beyond 2^53, of which not every digit would be kept; write a quantity in quotes`;

/** Floats, and integers with a leading zero that are not octal: 089. */
const float: ScalarRule = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:\.\d+(?:[eE][-+]?\d+)?|(?:[-+]_*(?:\._*)?)?\d[\d_]*(?:\.[\d_]*)?(?:[eE]_*(?:[-+]_*)?\d[\d_]*)?)$/,
  resolve(text) {
    const value = Number(text.replaceAll('_', ''));
    return Number.isFinite(value) ? value || 0 : text;
  },
};

/** Infinities and NaN, which JSON cannot represent. */
const notFinite: ScalarRule = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
  resolve: (text, fail) => fail(`${text} is not a number that JSON can represent`),
};

const binary: ScalarRule = {
  tag: 'tag:yaml.org,2002:binary',
  default: false,
  resolve(text, fail) {
    try {
      return new TextDecoder().decode(
        Uint8Array.from(atob(text.replaceAll(/\s/g, '')), (c) => c.charCodeAt(0)),
      );
    } catch {
      return fail('!!binary must be followed by base64');
    }
  },
};

/** Times, which are text in JSON. */
const timestamp: ScalarRule = {
  tag: 'tag:yaml.org,2002:timestamp',
  default: false,
  resolve: (text) => text,
};

/** Rules in the order in which they are tried. */
export const scalarRules: ScalarRule[] = [boolean, integer, float, notFinite, binary, timestamp];

/**
 * Returns true for a word that is a boolean here and would be text in YAML 1.2, such as `y`; `true` and
 * `false` do not count.
 */
export const isBooleanWord = (source: string): boolean =>
  boolean.test?.test(source) === true && !/^(?:true|false)$/i.test(source);
