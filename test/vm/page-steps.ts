/** Commands of a page of docs: each indented block, with the machine that the line before it names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Step {
  /** Name of a machine: `vm1`, `vm2` or `vm3`. */
  readonly machine: string;
  /** Script of bash that ends at the first command that fails. */
  readonly script: string;
}

/** Returns the steps of a page such as `upgrade.md`, or those of one of its sections. */
export function stepsOf(page: string, section?: string): Step[] {
  const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
  const steps = [...part(text, section).matchAll(/^On (vm[123]):\n\n((?: {4}.*\n|\n(?= {4}))+)/gm)];
  if (steps.length === 0) throw new Error(`no steps in ${page}${section ? `, section ${section}` : ''}`);
  return steps.map(([, machine = '', block = '']) => ({
    machine,
    script: `set -euo pipefail\n${block.replaceAll(/^ {4}/gm, '')}`,
  }));
}

const part = (text: string, section: string | undefined): string =>
  section === undefined
    ? text
    : (text.split(/^(?=## )/m).find((each) => each.startsWith(`## ${section}\n`)) ?? '');
