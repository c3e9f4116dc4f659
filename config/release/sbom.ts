/**
 * The parts of an executable as CycloneDX JSON: npm packages, Go modules, the parts of Node, and the tools of
 * the build. Pure: the same parts give the same text.
 */
import { createHash } from 'node:crypto';

/** A part of the executable, or a tool that made it. */
export interface Part {
  /** Kind of its package URL (https://github.com/package-url/purl-spec), such as npm. */
  readonly type: 'npm' | 'golang' | 'generic';
  readonly name: string;
  readonly version: string;
  /** SPDX identifier or expression of its licence, where its package names one. */
  readonly license?: string;
}

export interface SbomSources {
  /** Name of the file that has the parts, such as minik8s-linux-x64. */
  readonly file: string;
  readonly version: string;
  /** Digest of the file, SHA-256 in hexadecimal digits. */
  readonly digest: string;
  /** Time of the release in seconds since 1970. */
  readonly seconds: number;
  readonly parts: readonly Part[];
  readonly tools: readonly Part[];
}

/** Returns the document (https://cyclonedx.org/docs/1.6/json/), with its components sorted. */
export function sbom({ file, version, digest, seconds, parts, tools }: SbomSources): string {
  const own = {
    type: 'application',
    'bom-ref': file,
    name: 'minik8s',
    version,
    licenses: [{ license: { id: 'Apache-2.0' } }],
    hashes: [{ alg: 'SHA-256', content: digest }],
  };
  const components = sorted(parts.map(component));
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${file} ${digest}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      tools: { components: sorted(tools.map(component)) },
      component: own,
    },
    components,
    dependencies: [{ ref: file, dependsOn: components.map((each) => each['bom-ref']) }],
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function component({ type, name, version, license }: Part) {
  const purl = `pkg:${type}/${name.split('/').map(encodeURIComponent).join('/')}@${encodeURIComponent(version)}`;
  return {
    type: type === 'generic' ? 'application' : 'library',
    'bom-ref': purl,
    name,
    version,
    ...(license !== undefined && { licenses: [licenseChoice(license)] }),
    purl,
  };
}

/** An expression, such as `(MIT OR Apache-2.0)`, has another field than a single licence. */
const licenseChoice = (license: string) =>
  /\s/.test(license) ? { expression: license } : { license: { id: license } };

const sorted = (components: readonly ReturnType<typeof component>[]) =>
  [...components].sort((one, other) => (one.purl < other.purl ? -1 : 1));

/** Returns a UUID that depends on the text alone, in the form of version 8 (RFC 9562). */
function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex').slice(0, 32).split('');
  digits[12] = '8';
  digits[16] = '89ab'[Number.parseInt(digits[16] ?? '0', 16) % 4] ?? '8';
  return digits.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
