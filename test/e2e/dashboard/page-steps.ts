/** The pages about the cluster and its applications. */
import assert from 'node:assert/strict';
import { waitFor } from '../harness/wait-for.ts';
import { hostile } from './hostile.ts';
import { looksWell } from './looks.ts';
import type { Step } from './step.ts';
import { isHacked } from './world.ts';

export const pageSteps: readonly Step[] = [
  {
    name: 'the first page names the image that is missing',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin);
      const causes = page.getByRole('region', { name: 'What needs attention' });
      await causes
        .getByText(/no-such-image/)
        .first()
        .waitFor();
      await looksWell(browser, page, 'overview');
      assert.equal(await isHacked(page), false);
      await page.context().close();
    },
  },
  {
    name: 'a user of one namespace sees its causes, and the kinds that the user may not list',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.viewer);
      const causes = page.getByRole('region', { name: 'What needs attention' });
      await causes
        .getByText(/no-such-image/)
        .first()
        .waitFor();
      assert.match((await causes.locator('.unread').textContent()) ?? '', /nodes/);
      assert.equal(await page.getByRole('region', { name: 'Nodes', exact: true }).count(), 0);
      await page.context().close();
    },
  },
  {
    name: 'the topology leads from an Ingress and a Gateway to the pods and their node',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'topology');
      const picture = page.getByRole('region', { name: 'Topology' });
      for (const name of [/front/, /edge/, /side-door/, /calls/, /^web.*ready/, new RegExp(cluster.nodeName)])
        await picture.getByRole('link', { name }).first().waitFor();
      await looksWell(browser, page, 'topology');
      await picture.getByRole('link', { name: /side-door/ }).click();
      await page.getByRole('heading', { name: 'side-door' }).waitFor();
      await page.context().close();
    },
  },
  {
    name: 'the node map shows the pods of a node by their usage',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'nodes');
      const node = page.getByRole('region', { name: cluster.nodeName });
      await node.getByRole('link', { name: /^web-/ }).first().waitFor();
      await page.getByRole('button', { name: 'Memory' }).click();
      await node.getByRole('link', { name: /^web-/ }).first().waitFor();
      await looksWell(browser, page, 'nodes');
      await page.context().close();
    },
  },
  {
    name: 'the node map requests the nodes first, then the pods, and the usage of pods last',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'nodes');
      const wanted = ['/api/v1/nodes?', '/api/v1/pods?', '/apis/metrics.k8s.io/v1beta1/pods'];
      const found = await waitFor('the three requests', async () => {
        const entries = await page.evaluate(() =>
          performance
            .getEntriesByType('resource')
            .filter(({ name }) => !name.includes('watch='))
            .map(({ name, startTime, duration }) => ({ name, start: startTime, end: startTime + duration })),
        );
        const first = wanted.map((path) => entries.find(({ name }) => name.includes(path)));
        return first.every((one) => one !== undefined) && first;
      });
      const [nodes, pods, use] = found;
      // Each request begins after the answer of the one before it.
      assert.ok(nodes && pods && use && nodes.end <= pods.start && pods.end <= use.start);
      await page.context().close();
    },
  },
  {
    name: 'a user of one namespace has no link to the node map',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.viewer, 'rollouts');
      await page.getByRole('link', { name: 'chatty' }).waitFor();
      const links = page.getByRole('navigation', { name: 'Pages and kinds' });
      assert.equal(await links.getByRole('link', { name: 'Node map' }).count(), 0);
      assert.equal(await links.getByRole('link', { name: 'Rollouts' }).count(), 1);
      await page.context().close();
    },
  },
  {
    name: 'a rollout that waits is shown first, and a Deployment is scaled by its dialog',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'rollouts');
      await page.locator('.rollout-list li').first().getByText('broken').waitFor();
      await looksWell(browser, page, 'rollouts');
      await page.goto('/dashboard/k/deployments.apps/shop/chatty/rollout');
      await page
        .getByRole('region', { name: 'Rollout' })
        .getByText(/chatty-/)
        .first()
        .waitFor();
      await looksWell(browser, page, 'rollout');
      await page.getByRole('button', { name: 'Scale' }).click();
      await page.getByLabel('Number of pods').fill('3');
      await page.getByRole('dialog').getByRole('button', { name: 'Scale' }).click();
      await waitFor('three pods to be wished', async () => {
        const found = await kubectl(
          'get',
          'deployment',
          'chatty',
          '-n',
          'shop',
          '-o',
          'jsonpath={.spec.replicas}',
        );
        return found.trim() === '3';
      });
      await page.context().close();
    },
  },
  {
    name: 'the logs of the pods of a workload are one list, in which a script stays text',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'logs?ns=shop&labels=app%3Dchatty');
      const log = page.getByLabel('Log', { exact: true });
      const search = page.getByLabel('Search the log');
      await search.fill('begins');
      await log.locator('mark').first().waitFor();
      await waitFor('lines of two pods', async () => {
        const sources = await log
          .locator('.log-source')
          .evaluateAll((all) => all.map((one) => one.getAttribute('title')));
        return new Set(sources).size >= 2;
      });
      await search.fill('onerror');
      await log.locator('.log-text').filter({ hasText: hostile }).first().waitFor();
      assert.equal(await isHacked(page), false);
      await looksWell(browser, page, 'logs');
      await page.context().close();
    },
  },
  {
    name: 'a terminal runs commands in a container',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/pods?q=app%3Dchatty');
      await page
        .getByRole('link', { name: /^chatty-/ })
        .first()
        .click();
      await page.getByRole('link', { name: 'Terminal' }).click();
      const screen = page.locator('.xterm-rows');
      await screen.getByText('#').first().waitFor();
      await page.keyboard.type('echo $((6 * 7))-answer\n');
      await screen.getByText('42-answer').waitFor();
      await looksWell(browser, page, 'terminal');
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.waitForFunction(
        `![...document.querySelectorAll('.xterm *')].some((one) =>
          getComputedStyle(one).backgroundColor === 'rgb(255, 255, 255)')`,
      );
      await screen.getByText('42-answer').waitFor();
      await page.context().close();
    },
  },
  {
    name: 'objects are created from YAML after the server has checked all of them',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'create');
      const field = page.locator('.cm-content');
      const answers = page.getByLabel('Answers of the server');
      const create = page.getByRole('button', { name: 'Create', exact: true });
      const text = (namespace: string) =>
        [
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'made' } },
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made', namespace } },
        ]
          .map((object) => JSON.stringify(object))
          .join('\n---\n');
      await field.fill(text('made'));
      await page.getByRole('button', { name: 'Check' }).click();
      await answers.getByText('later').waitFor();
      // Chromium gives a text that replaces another one an inline style, which the policy forbids.
      await page.reload();
      await field.fill(text('shop'));
      assert.equal(await create.isDisabled(), true);
      await page.getByRole('button', { name: 'Check' }).click();
      await answers.getByText('can be created').nth(1).waitFor();
      assert.equal((await kubectl.attempt(['get', 'namespace', 'made'])).code, 1);
      await looksWell(browser, page, 'create');
      await create.click();
      await answers.getByRole('link', { name: 'ConfigMap made' }).waitFor();
      await kubectl('get', 'namespace', 'made');
      await kubectl('get', 'configmap', 'made', '-n', 'shop');
      await page.context().close();
    },
  },
  {
    name: 'an object that the server refuses is named, and nothing is created',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.viewer, 'create');
      await page
        .locator('.cm-content')
        .fill('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"no"}}');
      await page.getByRole('button', { name: 'Check' }).click();
      await page
        .getByLabel('Answers of the server')
        .getByText(/cannot create resource/)
        .waitFor();
      assert.equal(await page.getByRole('button', { name: 'Create', exact: true }).isDisabled(), true);
      assert.equal((await kubectl.attempt(['get', 'configmap', 'no', '-n', 'shop'])).code, 1);
      await page.context().close();
    },
  },
];
