/**
 * Kernel model for the proxy's transactions: it accepts or rejects a transaction as a whole, as nft does, and
 * stores the elements of the maps. It also records the UDP flows that were deleted.
 */
import assert from 'node:assert/strict';
import { type Exec, ExecError } from '../../../src/os/exec.ts';
import {
  type ElementName,
  type Elements,
  elementNames,
  noElements,
} from '../../../src/service-proxy/elements.ts';

interface Table {
  readonly chains: Set<string>;
  readonly elements: Record<ElementName, Map<string, string>>;
}

export const failure = (file: string, code: number, stderr = 'refused') =>
  new ExecError({ file, args: [], code, stdout: '', stderr }, `exit status ${code}`);

export class ModelKernel {
  table: Table | undefined;
  /** Texts of the accepted transactions. */
  readonly transactions: string[] = [];
  /** Arguments of each call of conntrack. */
  readonly deletions: string[] = [];
  /** Output of `ss -Hlntu`. */
  listening = '';
  /** Called before a program runs; an error that it throws is the program's result. */
  before: (file: string) => Promise<void> | void = () => {};

  readonly exec: Exec = async (file, args, { input = '' } = {}) => {
    await this.before(file);
    if (file === 'conntrack') this.deletions.push(args.join(' '));
    else if (file === 'ss') return { stdout: this.listening, stderr: '' };
    else if (args[0] === 'delete') this.#delete(args.join(' '));
    else if (args[0] === 'list') return { stdout: this.#listed(args.join(' ')), stderr: '' };
    else {
      assert.deepEqual([file, ...args], ['nft', '-f', '-']);
      this.table = changed(this.table, String(input));
      this.transactions.push(String(input));
    }
    return { stdout: '', stderr: '' };
  };

  #delete(args: string): void {
    if (args !== `delete table ${name}` || !this.table) throw failure('nft', 1, 'No such file or directory');
    this.table = undefined;
  }

  /** Elements of the maps that the kernel writes itself, by the name of the map. */
  readonly clients = new Map<string, readonly string[]>();

  /** Error of each listing of a map. */
  listFailure: ExecError | undefined;

  #listed(args: string): string {
    if (this.listFailure) throw this.listFailure;
    const [, map] = /^list map ip minik8s-proxy (\S+)$/.exec(args) ?? [];
    assert.ok(map, args);
    if (!this.table) throw failure('nft', 1, 'No such file or directory');
    return `elements = { ${(this.clients.get(map) ?? []).join(',\n')} }`;
  }

  /** Existing elements, without the names of empty maps. */
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

/** Returns the table after a transaction; throws the error of nft for a rejected one. */
function changed(before: Table | undefined, text: string): Table | undefined {
  let table = before && structuredClone(before);
  const lines = text.trimEnd().split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    if (line === `add table ${name}`) table ??= emptyTable();
    else if (line === `table ${name} {`) table = withChains(table ?? emptyTable(), lines);
    else if (!table) throw failure('nft', 1, line);
    else if (line === `delete table ${name}`) table = undefined;
    else change(table, line);
  }
  return table;
}

const name = 'ip minik8s-proxy';
const emptyTable = (): Table => ({ chains: new Set(), elements: noElements() });

/** Takes the lines of a table, of which only the names of its chains are added. */
function withChains(table: Table, lines: string[]): Table {
  const inside = lines.splice(0, lines.indexOf('}') + 1);
  assert.equal(inside.at(-1), '}');
  for (const chain of inside.flatMap((line) => /^ {2}chain (\S+) /.exec(line)?.[1] ?? [])) {
    assert.ok(!table.chains.has(chain), `${chain} would have its rules twice`);
    table.chains.add(chain);
  }
  return table;
}

function change(table: Table, line: string): void {
  const [, verb, what = '', body = ''] =
    /^(add element|delete element) ip minik8s-proxy (\S+) \{(.*)\}$/.exec(line) ?? [];
  if (verb === 'add element') add(table, what as ElementName, body, line);
  else if (verb === 'delete element') take(table, what as ElementName, body, line);
  else throw failure('nft', 1, `syntax error: ${line}`);
}

const entriesOf = (body: string, line: string) => {
  assert.ok(body.trim(), line);
  return body
    .trim()
    .split(', ')
    .map((entry) => entry.split(' : '));
};

function add({ chains, elements }: Table, name: ElementName, body: string, line: string): void {
  // The kernel writes the maps of clients itself.
  if (name.startsWith('sticky-')) return;
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
