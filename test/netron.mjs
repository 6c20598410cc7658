// What Netron sees of model files: node netron.mjs FOLDER FILE...
//
// FOLDER holds Netron's sources, as its wheel installs them. Every file is opened by Netron's own code and drawn, sidebars
// and all, onto a page that has no pixels. One line of JSON a file: {"file", "graphs", "weights"} or {"file", "error"}.
// The exit code is 1 when a file has an error.
import * as fs from 'node:fs';
import { register } from 'node:module';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';

const [sources, ...files] = process.argv.slice(2);
const root = fs.realpathSync(sources);

// The wheel has no package.json that would tell node that its files are modules.
const hook = `export const load = (url, context, next) =>
    next(url, url.startsWith(${JSON.stringify(pathToFileURL(root + path.sep).href)}) ? { ...context, format: 'module' } : context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const source = (name) => import(pathToFileURL(path.join(root, name)).href);
const [view, base, node] = await Promise.all(['view.js', 'base.js', 'node.js'].map(source));

/** An element of a page that nobody looks at: keeps its children and attributes, and answers any other call with nothing. */
class Element {
    constructor(page, tag) {
        Object.assign(this, { ownerDocument: page, tagName: tag, childNodes: [], attributes: new Map() });
        Object.assign(this, { style: { setProperty() {}, removeProperty() {} }, dataset: {}, value: '', scrollLeft: 0, scrollTop: 0 });
        for (const quiet of ['addEventListener', 'removeEventListener', 'focus', 'blur', 'click', 'remove', 'scrollTo']) {
            this[quiet] = () => {};
        }
    }
    get children() { return this.childNodes; }
    get firstChild() { return this.childNodes.at(0) ?? null; }
    get lastChild() { return this.childNodes.at(-1) ?? null; }
    get parentElement() { return this.parentNode ?? null; }
    get classList() {
        const names = () => new Set((this.getAttribute('class') ?? '').split(' ').filter(Boolean));
        const change = (edit) => { const set = names(); edit(set); this.setAttribute('class', [...set].join(' ')); };
        return {
            add: (...added) => change((set) => added.forEach((name) => set.add(name))),
            remove: (...gone) => change((set) => gone.forEach((name) => set.delete(name))),
            toggle: (name) => change((set) => set.delete(name) || set.add(name)),
            contains: (name) => names().has(name),
        };
    }
    place(child, index) { child.parentNode = this; this.childNodes.splice(index, 0, child); return child; }
    appendChild(child) { return this.place(child, this.childNodes.length); }
    append(...children) { children.forEach((child) => this.appendChild(child)); }
    prepend(...children) { children.reverse().forEach((child) => this.place(child, 0)); }
    insertBefore(child, other) {
        const index = this.childNodes.indexOf(other);
        return this.place(child, index < 0 ? this.childNodes.length : index);
    }
    removeChild(child) { this.childNodes = this.childNodes.filter((other) => other !== child); return child; }
    replaceChild(child, other) { this.insertBefore(child, other); return this.removeChild(other); }
    replaceChildren(...children) { this.childNodes = []; this.append(...children); }
    setAttribute(name, value) {
        this.attributes.set(name, value);
        if (name === 'id') {
            this.ownerDocument.named.set(value, this);
        }
    }
    getAttribute(name) { return this.attributes.get(name) ?? null; }
    hasAttribute(name) { return this.attributes.has(name); }
    removeAttribute(name) { this.attributes.delete(name); }
    querySelector() { return null; }
    querySelectorAll() { return []; }
    getElementsByClassName(name) {
        const below = this.childNodes.flatMap((child) => child.getElementsByClassName(name));
        return this.classList.contains(name) ? [...below, this] : below;
    }
    getBBox() { return { x: 0, y: 0, width: 8, height: 8 }; }
    getBoundingClientRect() { return { left: 0, top: 0, width: 0, height: 0 }; }
    getComputedTextLength() { return 8; }
}

class Page {
    constructor() {
        this.named = new Map();
        this.body = this.createElement('body');
        this.documentElement = this.createElement('html');
        for (const id of ['target', 'sidebar', 'graph', 'toolbar', 'canvas', 'origin']) {
            this.body.appendChild(this.createElement('div')).setAttribute('id', id);
        }
    }
    createElement(tag) { return new Element(this, tag); }
    createElementNS(space, tag) { return new Element(this, tag); }
    createTextNode(text) { return Object.assign(new Element(this, '#text'), { textContent: text }); }
    createDocumentFragment() { return new Element(this, '#fragment'); }
    getElementById(id) { return this.named.get(id) ?? null; }
    addEventListener() {}
    removeEventListener() {}
}

/** What Netron asks of the program around it. */
class Host {
    constructor() {
        this.errors = [];
        this.type = 'Test';
        this.document = new Page();
        this.window = {
            document: this.document, devicePixelRatio: 1, navigator: { userAgent: 'node' }, setTimeout, clearTimeout,
            addEventListener() {}, removeEventListener() {}, requestAnimationFrame: (draw) => draw(),
            getComputedStyle: () => ({ getPropertyValue: () => '' }),
        };
    }
    environment(name) { return { zoom: 'none', serial: true }[name]; }
    async view() {}
    async start() {}
    update() {}
    screen() {}
    event() {}
    message() {}
    worker() { throw new Error('there are no workers here'); }
    exception(error) { this.errors.push(error); }
    async require(name) { return source(`${name}.js`); }
    async asset(name) { return this.fetch(name, 'utf-8'); }
    async fetch(name, encoding, folder = root) {
        const file = path.resolve(folder, name);
        return encoding ? fs.readFileSync(file, encoding) : stream(file);
    }
}

const stream = (file) => {
    const { size, mtimeMs } = fs.statSync(file);
    return new node.FileStream(file, 0, size, mtimeMs);
};

class Context {
    constructor(host, file) {
        Object.assign(this, { host, folder: path.dirname(file), identifier: path.basename(file), stream: stream(file), entries: new Map() });
    }
    async asset(name) { return this.host.asset(name); }
    async fetch(name, encoding, folder) { return this.host.fetch(name, encoding, folder ?? this.folder); }
    async require(name) { return this.host.require(name); }
    error(error) { this.host.exception(error); }
}

const plain = (value) => {
    if (typeof value === 'bigint') {
        return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
    }
    if (ArrayBuffer.isView(value)) {
        return { bytes: value.byteLength };
    }
    return Array.isArray(value) ? value.map(plain) : value;
};
const typeOf = (type) => type && { dataType: type.dataType, shape: plain(type.shape?.dimensions ?? null), layout: type.denotation || undefined };

const VALUES = 4096; // elements of the largest tensor whose values are told

const weightOf = (initializer) => {
    const tensor = new base.Tensor(initializer);
    const count = (initializer.type.shape.dimensions ?? []).reduce((product, extent) => product * Number(extent), 1);
    const shown = tensor.empty ? {} : count > VALUES ? { text: tensor.toString().slice(0, 200) } : { value: plain(tensor.value) };
    return { ...typeOf(initializer.type), empty: tensor.empty, ...shown };
};

/** A graph as Netron has read it; the weights that it meets are added to `weights`. */
const describe = (graph, weights) => {
    const value = (one) => {
        if (one.initializer) {
            weights[one.name] ??= weightOf(one.initializer);
        }
        return { name: one.name, type: typeOf(one.type), initializer: Boolean(one.initializer) };
    };
    const port = ({ name, value: held }) => Array.isArray(held) ? { name, values: held.map(value) } : { name, value: plain(held) };
    const attribute = ({ name, type, value: held }) => {
        const text = type === 'graph' || type === 'tensor' ? undefined : new view.Formatter(held, type).toString();
        return { name, type: type ?? undefined, text, value: type === 'graph' ? describe(held, weights) : plain(held) };
    };
    return {
        name: graph.name,
        nodes: graph.nodes.map((one) => ({
            type: one.type.name, name: one.name, inputs: one.inputs.map(port), outputs: one.outputs.map(port),
            attributes: one.attributes.map(attribute),
        })),
    };
};

const open = async (file) => {
    const host = new Host();
    const model = await new view.ModelFactoryService(host).open(new Context(host, path.resolve(file)));
    const weights = {};
    const graphs = model.modules.map((graph) => describe(graph, weights));
    const window = new view.View(host);
    window.options.attributes = true;
    window.options.initializers = true;
    window.model = model;
    for (const graph of model.modules) {
        for (const one of graph.nodes) {
            new view.NodeSidebar(window, one).render();
        }
        new view.ModelSidebar(window, model, graph).render();
        await window.render(graph, graph);
    }
    if (host.errors.length) {
        throw host.errors[0];
    }
    return { format: model.format, graphs, weights };
};

for (const file of files) {
    let seen;
    try {
        seen = await open(file);
    } catch (error) {
        seen = { error: `${error.name}: ${error.message}` };
        process.exitCode = 1;
    }
    console.log(JSON.stringify({ file, ...seen }));
}
