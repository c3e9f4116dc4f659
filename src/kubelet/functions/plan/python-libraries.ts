/**
 * requirements.txt, as far as nodes install from it: names, versions and hashes of packages of the machine's index. Everything else
 * that pip would do (options, files, addresses, variables) is refused, because pip runs with the machine's settings. Pure.
 */
import { isRecord } from '../../../apimachinery/equality.ts';
import { BuildError } from './build-error.ts';

const name = '[A-Za-z0-9](?:[A-Za-z0-9._-]{0,200}[A-Za-z0-9])?';
const extras = `\\[\\s*${name}(?:\\s*,\\s*${name})*\\s*\\]`;
const clause = '(?:===?|~=|!=|<=?|>=?)\\s*[A-Za-z0-9._*+!-]{1,100}';
const versions = `\\(?\\s*${clause}(?:\\s*,\\s*${clause})*\\s*,?\\s*\\)?`;
const marker = `;[\\sA-Za-z0-9._'"<>=!~,()*+-]{1,500}`;
const hash = '--hash=sha(?:256|384|512):[0-9a-f]{64,128}';
const requirement = new RegExp(
  `^${name}\\s*(?:${extras})?\\s*(?:${versions})?\\s*(?:${marker})?(?:\\s+${hash})*$`,
);
const longestLine = 20_000;

/** One line a package; empty when there is nothing to install. Throws BuildError with the line that is refused. */
export function requirementLines(text: string): readonly string[] {
  const joined = text.replace(/^\uFEFF/, '').replaceAll(/\\\r?\n/g, ' ');
  return joined.split(/\r\n|\r|\n/).flatMap((full) => {
    const line = full.replace(/(?:^|\s)#.*$/, '').trim();
    if (line === '') return [];
    if (line.length <= longestLine && requirement.test(line)) return [line];
    const shown = JSON.stringify(line.length > 200 ? `${line.slice(0, 200)}…` : line);
    throw new BuildError(
      `requirements.txt: ${shown} is not installed: only names of packages with versions, markers and --hash are, no options, files or addresses`,
    );
  });
}

/** What `pip install --report` says it installed, as lines that install exactly that. */
export function lockOfReport(text: string): string {
  const report: unknown = JSON.parse(text);
  const installed = isRecord(report) && Array.isArray(report.install) ? report.install : [];
  const lines = installed.map((one) => {
    const { metadata, download_info: download } = one as {
      readonly metadata: { readonly name: string; readonly version: string };
      readonly download_info: { readonly archive_info?: { readonly hashes?: { readonly sha256?: string } } };
    };
    const sha256 = download.archive_info?.hashes?.sha256;
    if (sha256 === undefined)
      throw new BuildError(`pip does not say which archive it took of ${metadata.name}`);
    return `${metadata.name}==${metadata.version} --hash=sha256:${sha256}`;
  });
  return `${lines.toSorted().join('\n')}\n`;
}

const pip = [
  'python3',
  '-I',
  '-m',
  'pip',
  'install',
  '--disable-pip-version-check',
  '--no-input',
  '--no-cache-dir',
];
const into = ['--only-binary=:all:', '--no-user', '--no-compile', '--progress-bar=off', '--target=libraries'];

/** In a folder with the lines as requirements.txt. Leaves `libraries` and report.json there. */
export const pipCommand = (locked: boolean): readonly string[] => [
  ...[...pip, ...into, '--report=report.json', '--requirement=requirements.txt'],
  ...(locked ? ['--no-deps', '--require-hashes'] : []),
];
