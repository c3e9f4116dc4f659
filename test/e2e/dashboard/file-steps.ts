/** Files that are copied from and to containers. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { helloImage } from '../harness/images.ts';
import { hostile } from './hostile.ts';
import { looksWell } from './looks.ts';
import type { Step } from './step.ts';
import { apply, isHacked } from './world.ts';

const names = { pod: 'drawer', file: "odd ü <b>name' 100%.txt" } as const;

/** A pod with a container that has tar, and one whose PATH leads nowhere. */
const drawer = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: names.pod, namespace: 'shop' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      { name: 'main', env: [] as object[] },
      { name: 'bare', env: [{ name: 'PATH', value: '/nowhere' }] },
    ].map((container) => ({
      ...container,
      ...{
        image: helloImage,
        imagePullPolicy: 'Never',
        command: ['/bin/sh', '-c', 'while /bin/sleep 5; do :; done'],
      },
    })),
  },
};

const upload = (page: Page) => page.getByRole('form', { name: 'Upload' });
const download = (page: Page) => page.getByRole('form', { name: 'Download' });

async function ask(page: Page, path: string): Promise<void> {
  await download(page).getByLabel('File or directory in the container').fill(path);
  await download(page).getByRole('button', { name: 'Download' }).click();
}

export const fileSteps: readonly Step[] = [
  {
    name: 'a file with an odd name is copied to a container and back unchanged, and a directory as an archive',
    async run({ browser, cluster, tokens }) {
      const { kubectl } = cluster;
      await apply(cluster, [drawer]);
      await kubectl('wait', 'pod', names.pod, '-n', 'shop', '--for=condition=Ready', '--timeout=120s');
      const page = await browser.signIn(tokens.admin, `k/pods/shop/${names.pod}/files`);
      const content = Buffer.from(`${hostile}\0${'x'.repeat(700_000)}`);
      await upload(page)
        .getByLabel('Files of this machine')
        .setInputFiles([
          { name: names.file, mimeType: 'text/plain', buffer: content },
          { name: '-rf', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
        ]);
      await upload(page).getByRole('button', { name: 'Upload' }).click();
      await page.getByText(`${names.file}, -rf are in /tmp.`).waitFor();
      // The ls of busybox replaces letters that are not ASCII.
      const list = ['sh', '-c', 'cd /tmp && for name in *; do echo "$name"; done'];
      const found = await kubectl('exec', names.pod, '-n', 'shop', '-c', 'main', '--', ...list);
      assert.deepEqual(found.trim().split('\n').sort(), ['-rf', names.file].sort());
      const saving = page.waitForEvent('download');
      await ask(page, `/tmp/${names.file}`);
      const saved = await saving;
      assert.deepEqual(await readFile(await saved.path()), content);
      const savingAll = page.waitForEvent('download');
      await ask(page, '/tmp');
      assert.equal((await savingAll).suggestedFilename(), 'tmp.tar');
      await page.getByText(/^tmp\.tar is downloaded/).waitFor();
      assert.equal(await isHacked(page), false);
      await looksWell(browser, page, 'files');
      await page.context().close();
    },
  },
  {
    name: 'a wrong path, a missing file and a container without tar are named',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, `k/pods/shop/${names.pod}/files`);
      const alert = page.getByRole('alert');
      await ask(page, 'tmp');
      await alert.getByText('The path must begin with /.').waitFor();
      await ask(page, '/no/such/file');
      await alert.getByText(/\/no\/such\/file.*No such file/i).waitFor();
      await page.getByRole('combobox', { name: /^Container/ }).selectOption('bare');
      await ask(page, '/tmp');
      await alert.getByText(/The container has no tar/).waitFor();
      await page.context().close();
    },
  },
  {
    name: 'the download of a huge file shows its progress, and is cancelled',
    async run({ browser, cluster: { kubectl }, tokens }) {
      // A file of 200 GB without blocks, which tar reads as zeros.
      const dd = ['dd', 'if=/dev/zero', 'of=/tmp/huge', 'bs=1M', 'count=0', 'seek=200000'];
      await kubectl('exec', names.pod, '-n', 'shop', '-c', 'main', '--', ...dd);
      const page = await browser.signIn(tokens.admin, `k/pods/shop/${names.pod}/files`);
      await ask(page, '/tmp/huge');
      await page
        .getByRole('region', { name: 'Progress' })
        .getByText(/Download of \/tmp\/huge: \d/)
        .waitFor();
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page
        .getByRole('alert')
        .getByText(/Download of .*: cancelled/)
        .waitFor();
      await page.context().close();
    },
  },
  {
    name: 'a user who may not run programs in a pod has no tab for its files',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.viewer, `k/pods/shop/${names.pod}`);
      const tabs = page.getByRole('navigation', { name: `Parts of ${names.pod}` });
      await tabs.getByRole('link', { name: 'Logs', exact: true }).waitFor();
      assert.equal(await tabs.getByRole('link', { name: 'Files', exact: true }).count(), 0);
      await page.context().close();
      await kubectl('delete', 'pod', names.pod, '-n', 'shop', '--wait=false');
    },
  },
];
