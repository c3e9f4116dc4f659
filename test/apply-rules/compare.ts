import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { lazyObjectType, type FieldType, type Field, type MergeRule } from '/work/wt/ssa/src/apimachinery/field-types.ts';
import { shapeOfType } from '/work/wt/ssa/src/apimachinery/managed-fields/shape.ts';
import { applyConfiguration, managersAfterUpdate } from '/work/wt/ssa/src/apimachinery/managed-fields/ownership.ts';
import { ApplyConflicts, type Managers } from '/work/wt/ssa/src/apimachinery/managed-fields/managers.ts';
import { describePath, writeFields } from '/work/wt/ssa/src/apimachinery/managed-fields/field-set.ts';
import { deepEqual, deepCopy } from '/work/wt/ssa/src/apimachinery/equality.ts';
const str: FieldType = { kind: 'scalar', scalar: 'string' };
const num: FieldType = { kind: 'scalar', scalar: 'int32' };
const obj = (name: string, fields: [string, FieldType, MergeRule?, unknown?][]): FieldType => ({ kind: 'object', object: lazyObjectType(name, false, () => new Map(fields.map(([n, type, merge, def]) => [n, { name: n, type, required: false, ...(merge && { merge }), ...(def !== undefined && { rule: { acts: true, mandatory: false, default: def } }) } as Field]))) });
const list = (items: FieldType): FieldType => ({ kind: 'list', items });
const map = (values: FieldType): FieldType => ({ kind: 'map', values });
const inner = obj('inner', [['x', str], ['y', str], ['set', list(str), { listType: 'set' }]]);
const port = obj('port', [['port', num], ['proto', str, undefined, 'TCP'], ['w', str]]);
const item = obj('item', [['name', str], ['v', str], ['s', inner], ['m', map(str)], ['ports', list(port), { listType: 'map', listKeys: ['port', 'proto'] }]]);
const root = obj('root', [['a', str], ['n', num], ['s', inner], ['m', map(str)], ['mm', map(inner)], ['am', map(str), { mapType: 'atomic' }], ['al', list(str)], ['set', list(str), { listType: 'set' }], ['items', list(item), { listType: 'map', listKeys: ['name'] }]]);
const shape = shapeOfType(root);
let seed = Number(process.argv[2] ?? 1);
const rnd = () => { seed |= 0; seed = (seed + 0x6d2b79f5) | 0; let t = Math.imul(seed ^ (seed >>> 15), 1 | seed); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
const pick = <T>(a: readonly T[]) => a[Math.floor(rnd() * a.length)]!;
const some = (p: number) => rnd() < p;
const dup = { allowed: false };
const shuffled = <T>(a: T[]) => a.map((v) => [rnd(), v] as const).sort((x, y) => x[0] - y[0]).map(([, v]) => v);
const subset = <T>(a: T[]) => { const s = shuffled(a.filter(() => some(0.5))); if (dup.allowed && s.length && some(0.1)) s.push(pick(s)); return s; };
const maybeNull = <T>(v: T) => (nulls && some(0.04) ? null : v);
let nulls = process.argv[4] === 'nulls';
const genStr = () => pick(['1', '2', '']);
const genMap = (g: () => unknown) => Object.fromEntries(subset(['k1', 'k2', 'k3']).map((k) => [k, g()]));
const genInner = () => { const o: any = {}; if (some(0.5)) o.x = maybeNull(genStr()); if (some(0.5)) o.y = genStr(); if (some(0.4)) o.set = maybeNull(subset(['p', 'q', 'r'])); return o; };
const genPorts = () => subset([1, 2]).flatMap((p) => subset(['TCP', 'UDP', undefined]).slice(0, 1).map((proto) => ({ port: p, ...(proto && { proto }), ...(some(0.5) && { w: genStr() }) })));
const genItem = (name: string) => { const o: any = { name }; if (some(0.5)) o.v = genStr(); if (some(0.4)) o.s = maybeNull(genInner()); if (some(0.3)) o.m = genMap(genStr); if (some(0.4)) o.ports = genPorts(); return o; };
const genRoot = () => { const o: any = {}; if (some(0.5)) o.a = genStr(); if (some(0.3)) o.n = Math.floor(rnd() * 3); if (some(0.5)) o.s = maybeNull(genInner()); if (some(0.5)) o.m = maybeNull(genMap(genStr)); if (some(0.3)) o.mm = genMap(genInner); if (some(0.3)) o.am = maybeNull(genMap(genStr)); if (some(0.3)) o.al = maybeNull(subset(['p', 'q', 'r'])); if (some(0.5)) o.set = maybeNull(subset(['p', 'q', 'r', 's', 't'])); if (some(0.6)) o.items = maybeNull(subset(['i1', 'i2', 'i3', 'i4', 'i5']).map(genItem)); return o; };
const rounds = Number(process.argv[3] ?? 2000);
const child = spawn('/tmp/smd/smd', [], { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const versions = () => ({ apiVersion: 'v1', shape, convert: (o: unknown) => o, revert: (o: unknown) => o });
const norm = (v: unknown): unknown => v === null ? undefined : v;
let bad = 0; let errors = 0, conflicts = 0, steps = 0;
for (let round = 0; round < rounds && bad < 3; round++) {
  dup.allowed = round % 5 === 0;
  const ops = Array.from({ length: 2 + Math.floor(rnd() * 7) }, () => { const apply = some(0.65); return { op: apply ? 'apply' : 'update', manager: apply ? pick(['a1', 'a2', 'a3']) : pick(['u1', 'u2']), object: genRoot(), force: some(0.5) }; });
  child.stdin.write(`${JSON.stringify(ops)}\n`);
  if (process.env.V) console.error(round);
  const expected = JSON.parse((await lines.next()).value) as any[];
  let live: unknown = {}; let managers: Managers = new Map();
  for (const [i, op] of ops.entries()) {
    steps++;
    let error = '';
    try {
      const writer = { manager: op.manager, operation: op.op === 'apply' ? 'Apply' as const : 'Update' as const, apiVersion: 'v1', subresource: '' };
      if (op.op === 'update') { managers = managersAfterUpdate(live, op.object, managers, writer, versions); live = op.object; }
      else { const r = applyConfiguration(live, op.object, managers, writer, versions, op.force); if (r.object !== undefined) live = r.object; managers = r.managers; }
    } catch (e) { error = e instanceof ApplyConflicts ? `conflicts [${e.conflicts.map(({ manager, path }) => `${manager.manager} ${describePath(path)}`).sort().join(' ')}]` : String((e as Error).message); }
    const want = expected[i];
    const mine = Object.fromEntries([...managers.values()].map((m) => [m.manager, writeFields(m.fields)]));
    if (want.error) { errors++; if (want.error.startsWith('conflicts')) conflicts++; }
    const sameError = want.error?.startsWith('conflicts') ? want.error === error : Boolean(want.error) === Boolean(error);
    const ok = sameError && JSON.stringify(strip(live)) === JSON.stringify(strip(want.object)) && JSON.stringify(sorted(mine)) === JSON.stringify(sorted(want.managers));
    if (!ok) { bad++; console.log('round', round, 'step', i, JSON.stringify(ops.slice(0, i + 1), null, 0)); console.log('error  mine', error, '\n     theirs', want.error); console.log('object mine  ', JSON.stringify(strip(live)), '\n       theirs', JSON.stringify(strip(want.object))); console.log('managers mine  ', JSON.stringify(sorted(mine)), '\n         theirs', JSON.stringify(sorted(want.managers))); break; }
    if (error === '' && Object.hasOwn(want, 'object')) live = deepCopy(live);
  }
}
console.log({ rounds, steps, errors, conflicts, bad });
child.stdin.end();
function strip(v: any): any { if (Array.isArray(v)) return v.map(strip); if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).filter(([, x]) => x !== null && x !== undefined).sort(([a], [b]) => a < b ? -1 : 1).map(([k, x]) => [k, strip(x)])); return v; }
function sorted(m: any) { return Object.fromEntries(Object.entries(m).sort(([a], [b]) => a < b ? -1 : 1)); }
