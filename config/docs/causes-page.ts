/** The page of causes, from the rules of `ctl why`: the symptom, its cause and the remedy. Pure. */
import { featureRules } from '../../src/features/why.ts';
import { type KindKey, kindKeys, whyKinds } from '../../src/why/kinds.ts';
import { rules as kubernetesRules } from '../../src/why/rules/index.ts';
import { faults } from '../../test/e2e/harness/why-faults.ts';

const rules = { ...kubernetesRules, ...featureRules };

const intro = `# Causes that \`minik8s ctl why\` knows

\`npm run docs:causes\` writes this page from the rules in \`src/why/rules\` and in the folders
\`why\` of the features ([decision 137](decisions/0137-why.md)).

    minik8s ctl why
    minik8s ctl why -A
    minik8s ctl why pod/web

The first line explains what is wrong in the namespace, the second what is wrong in the whole cluster, the
worst first, and the third why one pod does not run. An explanation goes from the object down to the first
cause, and ends with the evidence (\`|\`), the last lines of a log (\`>\`) and what mends it. \`-o json\`
prints the same for programs. The command reads with the rights of the user: it names the kinds that the
user may not list, and reports nothing about them.

The last column has the test that shows the rule: \`node\` is \`test/e2e/why.test.ts\`, which makes the fault on
a real node and applies the change that is named; \`cases\` is \`test/unit/why/rules.test.ts\`, which has cases
of every rule under its name.
`;

/** Rules whose faults are made on a real node. */
const onNode = new Set(faults.map(({ rule }) => rule));

/** Returns the page. A rule for several kinds stands under the first of them. */
export function causesPage(): string {
  const sections = kindKeys.flatMap((key) => {
    const own = Object.entries(rules).filter(([name, { kinds }]) => name !== 'finalizer' && kinds[0] === key);
    return own.length === 0 ? [] : [sectionOf(key, own)];
  });
  const { finalizer } = rules;
  return `${[intro, ...sections, finalizer ? section('Every kind', [['finalizer', finalizer]]) : ''].join('\n')}`;
}

type Entries = readonly (readonly [name: string, rule: (typeof rules)[string]])[];

const sectionOf = (key: KindKey, entries: Entries) => section(whyKinds[key].kind, entries);

function section(title: string, entries: Entries): string {
  const rows = entries.map(
    ([name, { symptom, cause, advice }]) =>
      `| ${symptom} | ${cause} | ${advice} | \`${name}\` | ${onNode.has(name) ? 'node, cases' : 'cases'} |`,
  );
  return `## ${title}\n\n| what is seen | cause | what to do | rule | shown by |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}
