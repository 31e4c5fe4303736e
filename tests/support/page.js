// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the script of a report over the report's own tables and figures, in a small model of a document: node
// page.js PAGE TITLE COLUMN prints the first column of the table under TITLE after no, one, two and three clicks on
// COLUMN, then after the filter WORD (a fourth argument), then what hovering over a figure fades.
'use strict';
const fs = require('fs');
const crypto = require('crypto');
const page = fs.readFileSync(process.argv[2], 'utf8');
const [title, column, word] = process.argv.slice(3);

class Element {
    constructor(name, text = '') {
        Object.assign(this, {name, textContent: text, cells: [], rows: [], children: [], attributes: {}, listeners: {}, hidden: false, classes: new Set()});
        this.classList = {toggle: (c, on) => { if (on) this.classes.add(c); else this.classes.delete(c); }, remove: (c) => this.classes.delete(c)};
    }
    getAttribute(key) { return key in this.attributes ? this.attributes[key] : null; }
    setAttribute(key, value) { this.attributes[key] = value; }
    addEventListener(kind, call) { this.listeners[kind] = call; }
    appendChild(row) { this.rows = this.rows.filter((other) => other !== row).concat([row]); }
    insertBefore(child) { this.children.push(child); }
    querySelectorAll() { return this.groups; }
    closest() { return this.name === 'g' ? this : null; }
}
const plain = (html) => html.replace(/<[^>]*>/g, '').replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, '&');
const rowsOf = (html) => html.split('<tr>').slice(1).map((text) => {
    const row = new Element('tr', plain(text));
    row.cells = text.split(/<t[dh][^>]*>/).slice(1).map((cell) => new Element('td', plain(cell.split(/<\/t[dh]>/)[0])));
    return row;
});
const tables = page.split('<h2>').slice(1).filter((part) => part.includes('<table>')).map((part) => {
    const table = new Element('table'), [head, body] = part.split('<table>')[1].split('</table>')[0].split('<tbody>');
    table.title = plain(part.split('</h2>')[0]);
    table.tHead = {rows: rowsOf(head)};
    table.tBodies = [new Element('tbody')];
    table.tBodies[0].rows = rowsOf(body);
    table.parentNode = new Element('div');
    return table;
});
const figures = page.split('<figure>').slice(1).map((part) => {
    const figure = new Element('figure');
    figure.groups = (part.match(/<g id="[^"]*gnuplot_plot_[^"]*"/g) || []).map(() => new Element('g'));
    return figure;
});
const scripts = page.match(/<script[\s\S]*?<\/script>/g);
const script = scripts[0].replace(/^<script>/, '').replace(/<\/script>$/, '');
const sum = 'sha256-' + crypto.createHash('sha256').update(script).digest('base64');
console.log('scripts', scripts.length, 'allowed by the policy', page.includes(`script-src '${sum}'`));
new Function('document', script)({
    querySelectorAll: (name) => name === 'table' ? tables : figures,
    createElement: (name) => new Element(name),
});
const table = tables.find((one) => one.title.startsWith(title));
const shown = () => table.tBodies[0].rows.filter((row) => !row.hidden).map((row) => row.cells[0].textContent).join(' ');
const head = table.tHead.rows[0].cells.find((cell) => cell.textContent === column);
console.log('as it is:', shown());
for (let i = 0; i < 2; i++) {
    head.listeners.click();
    console.log(head.attributes['aria-sort'] + ':', shown());
}
head.listeners.keydown({key: 'Enter', preventDefault() {}});
console.log(head.attributes['aria-sort'] + ':', shown());
const filter = table.parentNode.children[0];
if (word) {
    filter.value = word;
    filter.listeners.input();
    console.log('filtered:', shown());
}
const figure = figures.find((one) => one.groups.length > 1);
figure.listeners.mouseover({target: figure.groups[1]});
console.log('faint:', figure.groups.filter((group) => group.classes.has('faint')).length, 'of', figure.groups.length);
figure.listeners.mouseleave();
console.log('left:', figure.groups.filter((group) => group.classes.has('faint')).length);
