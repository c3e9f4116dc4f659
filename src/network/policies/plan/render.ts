/** Renders the tables of network policies, and changes of them, as text for nft(8). Pure. */
import { directions } from './compiled-policy.ts';
import { type AddressSet, type Family, noTables, type PolicyTables } from './tables.ts';

/** Name of the tables; nothing else writes to them. */
export const policyTable = 'minik8s-policies';

const addressOf: Readonly<Record<Family, string>> = { ip: 'ipv4_addr', ip6: 'ipv6_addr' };

function declaration({ kind }: AddressSet, family: Family): string {
  const address = addressOf[family];
  if (kind === 'pods') return `type ${address};`;
  if (kind === 'ranges') return `type ${address}; flags interval;`;
  return `type ${address} . inet_proto . inet_service;`;
}

/** Maximum number of elements in a command: longer lines take nft more than their share of time. */
const maxElements = 5_000;

function elementCommands(
  verb: 'add' | 'delete',
  family: Family,
  name: string,
  elements: readonly string[],
): string {
  let text = '';
  for (let from = 0; from < elements.length; from += maxElements) {
    const part = elements.slice(from, from + maxElements).join(', ');
    text += `${verb} element ${family} ${policyTable} ${name} { ${part} }\n`;
  }
  return text;
}

/** Packets of a connection that was allowed in its first direction are answers in the other one. */
const answers = ['ct state related accept', 'ct direction reply ct state established accept'];

export const renderRemoval = (family: Family): string =>
  `add table ${family} ${policyTable}\ndelete table ${family} ${policyTable}\n`;

/**
 * Renders one transaction that replaces the whole table. Both chains come after the translation of addresses
 * of Services and before that of sources: they see the pods at both ends. A packet between two pods of this
 * node passes both. A pod always reaches itself, also by a Service.
 */
export function renderTable(family: Family, tables: PolicyTables): string {
  const base = [
    `  set self { type ${addressOf[family]} . ${addressOf[family]}; }`,
    ...directions.map((direction) => `  map ${direction} { type ${addressOf[family]} : verdict; }`),
    ...directions.map((direction) => {
      const [own, priority] = direction === 'egress' ? ['saddr', 5] : ['daddr', 6];
      const rules = [
        `type filter hook forward priority filter + ${priority}; policy accept;`,
        ...answers,
        `${family} saddr . ${family} daddr @self accept`,
        `${family} ${own} vmap @${direction}`,
      ];
      return `  chain ${direction} {\n${rules.map((rule) => `    ${rule}\n`).join('')}  }`;
    }),
  ];
  const head = `${renderRemoval(family)}table ${family} ${policyTable} {\n${base.join('\n')}\n}\n`;
  return head + renderChange(family, noTables, tables);
}

/** Renders one transaction that changes the table; empty if nothing changes. */
export function renderChange(family: Family, before: PolicyTables, after: PolicyTables): string {
  return [
    newSets(family, before, after),
    newChains(family, before, after),
    verdictChanges(family, before, after),
    elementChanges(family, before, after),
    oldChains(family, before, after),
    ...[...before.sets.keys()]
      .filter((name) => !after.sets.has(name))
      .map((name) => `delete set ${family} ${policyTable} ${name}\n`),
  ].join('');
}

function newSets(family: Family, before: PolicyTables, after: PolicyTables): string {
  let text = '';
  for (const [name, set] of after.sets) {
    if (before.sets.has(name)) continue;
    text += `add set ${family} ${policyTable} ${name} { ${declaration(set, family)} }\n`;
    text += elementCommands('add', family, name, [...set.elements]);
  }
  return text;
}

/** Chains exist before the rules that jump to them. */
function newChains(family: Family, before: PolicyTables, after: PolicyTables): string {
  const added = [...after.chains].filter(([name]) => !before.chains.has(name));
  const chains = added.map(([name]) => `add chain ${family} ${policyTable} ${name}\n`);
  const rules = added.flatMap(([name, lines]) =>
    lines.map((line) => `add rule ${family} ${policyTable} ${name} ${line}\n`),
  );
  return [...chains, ...rules].join('');
}

/** nft cannot overwrite an element: a changed one is deleted and added. */
function verdictChanges(family: Family, before: PolicyTables, after: PolicyTables): string {
  let text = '';
  for (const direction of directions) {
    const [old, now] = [before.verdicts[direction], after.verdicts[direction]];
    const changed = [...now].filter(([ip, chain]) => old.get(ip) !== chain);
    const removed = [...old.keys()].filter((ip) => now.get(ip) !== old.get(ip));
    text += elementCommands('delete', family, direction, removed);
    text += elementCommands(
      'add',
      family,
      direction,
      changed.map(([ip, chain]) => `${ip} : goto ${chain}`),
    );
  }
  const [old, now] = [isolated(before), isolated(after)];
  const self = (ips: Iterable<string>) => [...ips].map((ip) => `${ip} . ${ip}`);
  text += elementCommands('delete', family, 'self', self(old.difference(now)));
  return text + elementCommands('add', family, 'self', self(now.difference(old)));
}

const isolated = ({ verdicts }: PolicyTables): Set<string> =>
  new Set([...verdicts.ingress.keys(), ...verdicts.egress.keys()]);

function elementChanges(family: Family, before: PolicyTables, after: PolicyTables): string {
  let text = '';
  for (const [name, { elements }] of after.sets) {
    const old = before.sets.get(name)?.elements;
    if (!old || old === elements) continue;
    text += elementCommands(
      'delete',
      family,
      name,
      [...old].filter((element) => !elements.has(element)),
    );
    text += elementCommands(
      'add',
      family,
      name,
      [...elements].filter((element) => !old.has(element)),
    );
  }
  return text;
}

/** All old chains are emptied first, since some jump to others. */
function oldChains(family: Family, before: PolicyTables, after: PolicyTables): string {
  const old = [...before.chains.keys()].filter((name) => !after.chains.has(name));
  return ['flush', 'delete']
    .flatMap((verb) => old.map((name) => `${verb} chain ${family} ${policyTable} ${name}\n`))
    .join('');
}
