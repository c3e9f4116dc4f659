/**
 * The parts of requirements.txt that nodes install from: names, versions and hashes of packages in the
 * machine's index. Everything else that pip supports (options, files, addresses, variables) is rejected,
 * because pip runs with the machine's settings. Pure.
 */
import { isRecord } from '../../../../apimachinery/equality.ts';
import { BuildError } from './build-error.ts';

const name = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const clause = /^(?:===?|~=|!=|<=?|>=?)[ \t]*[A-Za-z0-9._*+!-]+$/;
const marker = /^[A-Za-z0-9_ \t.'"<>=!~,()*+-]+$/;
const hash = /^--hash=sha(?:256|384|512):[0-9a-f]{64,128}$/;
const maxLineLength = 20_000;

/**
 * Returns true when the line is NAME[EXTRAS] VERSIONS ; MARKER --hash=…. It is parsed from its end, so that
 * parsing ends soon whatever the line is: anyone who may write a function chooses the lines.
 */
function isRequirement(line: string): boolean {
  if (line.length > maxLineLength || /[^\t\x20-\x7e]/.test(line)) return false;
  const [package_ = '', ...hashes] = line.split(/[ \t](?=--)/).map((part) => part.trim());
  if (!hashes.every((one) => hash.test(one))) return false;
  const semicolon = package_.indexOf(';');
  if (semicolon >= 0 && !marker.test(package_.slice(semicolon + 1))) return false;
  return isPackage((semicolon < 0 ? package_ : package_.slice(0, semicolon)).trim());
}

/** Returns true for `NAME[EXTRAS]VERSIONS`; the extras and the versions may be absent. */
function isPackage(wanted: string): boolean {
  const end = wanted.search(/[^A-Za-z0-9._-]/);
  if (end < 0) return name.test(wanted);
  if (!name.test(wanted.slice(0, end))) return false;
  const rest = wanted.slice(end).trim();
  const close = rest.startsWith('[') ? rest.indexOf(']') : -1;
  if (rest.startsWith('[') && (close < 0 || !areNames(rest.slice(1, close)))) return false;
  return areVersions(rest.slice(close + 1).trim());
}

const areNames = (text: string) => text.split(',').every((one) => name.test(one.trim()));

function areVersions(text: string): boolean {
  if (text === '') return true;
  const inner = text.startsWith('(') && text.endsWith(')') ? text.slice(1, -1) : text;
  return inner.split(',').every((one) => clause.test(one.trim()));
}

/**
 * Returns one line per package; empty when there is nothing to install. Throws BuildError with the line that
 * is rejected.
 */
export function requirementLines(text: string): readonly string[] {
  const joined = text.replace(/^\uFEFF/, '').replaceAll(/\\\r?\n/g, ' ');
  return joined.split(/\r\n|\r|\n/).flatMap((full) => {
    const line = full.replace(/(?:^|\s)#.*$/, '').trim();
    if (line === '') return [];
    if (isRequirement(line)) return [line];
    const shown = JSON.stringify(line.length > 200 ? `${line.slice(0, 200)}…` : line);
    throw new BuildError(
      `requirements.txt: ${shown} is rejected: a line may be the name of a package with versions, markers and --hash, but no option, file or address`,
    );
  });
}

/** Returns lines that install exactly the packages that a report of `pip install --report` lists. */
export function lockOfReport(text: string): string {
  const installed = installedOf(text);
  const lines = installed.map((one) => {
    const { metadata, download_info: download } = one as {
      readonly metadata: { readonly name: string; readonly version: string };
      readonly download_info: { readonly archive_info?: { readonly hashes?: { readonly sha256?: string } } };
    };
    const sha256 = download.archive_info?.hashes?.sha256;
    if (sha256 === undefined)
      throw new BuildError(`pip does not report which archive it used for ${metadata.name}`);
    return `${metadata.name}==${metadata.version} --hash=sha256:${sha256}`;
  });
  return `${lines.toSorted().join('\n')}\n`;
}

/** Returns the archives that a report of pip lists. Throws BuildError for an invalid report. */
function installedOf(text: string): readonly unknown[] {
  let report: unknown;
  try {
    report = JSON.parse(text);
  } catch {
    // Pip before 22.2 has no --report; a killed pip leaves a part of the file.
  }
  if (isRecord(report) && Array.isArray(report.install)) return report.install;
  throw new BuildError(
    'pip left no report of the installed packages (report.json): the image needs pip 22.2 or later; see the log of the build',
  );
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

/**
 * Returns the command for a folder with the lines as requirements.txt. It creates `libraries` and report.json
 * there.
 */
export const pipCommand = (locked: boolean): readonly string[] => [
  ...[...pip, ...into, '--report=report.json', '--requirement=requirements.txt'],
  ...(locked ? ['--no-deps', '--require-hashes'] : []),
];
