/**
 * What the kernel makes of the proxy's transactions: it takes one whole or refuses it, as nft does, and keeps what is in
 * the maps. And the UDP flows that were deleted.
 */
import assert from 'node:assert/strict';
import { type Exec, ExecError } from '../../../src/base/exec.ts';
import { type ElementName, type Elements, elementNames, noElements } from '../../../src/proxy/elements.ts';

interface Table {
  readonly chains: Set<string>;
  readonly elements: Record<ElementName, Map<string, string>>;
}

export const failure = (file: string, code: number, stderr = 'refused') =>
  new ExecError({ file, args: [], code, stdout: '', stderr }, `exit status ${code}`);

export class ModelKernel {
  table: Table | undefined;
  /** Texts of the transactions that were taken. */
  readonly transactions: string[] = [];
  /** The arguments of conntrack. */
  readonly deletions: string[] = [];
  /** Called before a program runs; what it throws is how that ends. */
  before: (file: string) => Promise<void> | void = () => {};

  readonly exec: Exec = async (file, args, { input = '' } = {}) => {
    await this.before(file);
    if (file === 'conntrack') this.deletions.push(args.join(' '));
    else {
      assert.deepEqual([file, ...args], ['nft', '-f', '-']);
      this.table = changed(this.table, String(input));
      this.transactions.push(String(input));
    }
    return { stdout: '', stderr: '' };
  };

  /** What there is, without the names that have nothing. */
  get elements(): Readonly<Record<string, Readonly<Record<string, string>>>> {
    return this.table ? asObject(this.table.elements) : {};
  }
}

export const asObject = (elements: Elements) =>
  Object.fromEntries(
    elementNames.flatMap((name) =>
      elements[name].size > 0 ? [[name, Object.fromEntries([...elements[name]].sort())]] : [],
    ),
  );

function changed(before: Table | undefined, text: string): Table | undefined {
  let table = before && structuredClone(before);
  const lines = text.trimEnd().split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, verb, what, name = '', body = ''] =
      /^(add|delete|) ?(table|chain|element) ip minik8s-proxy ?(\S*) ?\{?(.*?)\}?$/.exec(line) ?? [];
    const change = `${verb} ${what}`.trim();
    if (change === 'add table') table ??= { chains: new Set(), elements: noElements() };
    else if (change === 'delete table') {
      if (!table) throw failure('nft', 1, line);
      table = undefined;
    } else if (change === 'table') {
      table = { chains: new Set(), elements: noElements() };
      while (lines[0] !== '}') {
        const chain = /^ {2}chain (\S+) /.exec(lines.shift() ?? assert.fail('the table does not end'))?.[1];
        if (chain !== undefined) table.chains.add(chain);
      }
      lines.shift();
    } else if (!table) throw failure('nft', 1, line);
    else if (change === 'add chain') {
      assert.ok(!table.chains.has(name), `${name} would have its rules twice`);
      table.chains.add(name);
    } else if (change === 'add element') add(table, name as ElementName, body, line);
    else if (change === 'delete element') take(table, name as ElementName, body, line);
    else throw failure('nft', 1, `syntax error: ${line}`);
  }
  return table;
}

const entriesOf = (body: string, line: string) => {
  assert.ok(body.trim(), line);
  return body
    .trim()
    .split(', ')
    .map((entry) => entry.split(' : '));
};

function add({ chains, elements }: Table, name: ElementName, body: string, line: string): void {
  for (const [key = '', value = ''] of entriesOf(body, line)) {
    const verdict = /^goto (.*)$/.exec(value);
    if (verdict && !chains.has(verdict[1] ?? '')) throw failure('nft', 1, `no such chain: ${line}`);
    if ((elements[name].get(key) ?? value) !== value) throw failure('nft', 1, `exists: ${line}`);
    elements[name].set(key, value);
  }
}

function take({ elements }: Table, name: ElementName, body: string, line: string): void {
  for (const [key = ''] of entriesOf(body, line))
    if (!elements[name].delete(key)) throw failure('nft', 1, `no such element: ${line}`);
}
