// Tables of a report are sorted by a click on a head (or Enter on it), and filtered by a text; a figure
// shows the series under the pointer alone. The page says all of it without this script as well. Texts of
// the page are read and compared, and become neither markup nor code.
(() => {
    'use strict';
    const SECONDS = {us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400};
    const FORM = /^(gains |loses |> |<= )?([+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: ?(us|ms|s|min|h|d|%))?(?:\/\d+| to .*)?$/;
    const LEAST_ROWS = 8; // of a table with a filter

    // The number that a cell shows, times in seconds; NaN: it shows none.
    const valueOf = (text) => {
        const found = FORM.exec(text);
        if (text === 'as there')
            return 0;
        return found ? (found[1] === 'loses ' ? -1 : 1) * Number(found[2]) * (SECONDS[found[3]] || 1) : NaN;
    };
    const isEmpty = (text) => text === '' || text === '-';
    const textOf = (row, column) => row.cells[column].textContent;

    // Cells without a value stay last in either direction; equal cells keep the page's order.
    const sorted = (rows, column, sign) => {
        const isNumeric = rows.every((row) => isEmpty(textOf(row, column)) || !Number.isNaN(valueOf(textOf(row, column))));
        const order = (a, b) => {
            const x = textOf(a, column), y = textOf(b, column);
            if (isEmpty(x) || isEmpty(y))
                return isEmpty(x) - isEmpty(y);
            if (isNumeric)
                return sign * (valueOf(x) - valueOf(y));
            return sign * (x < y ? -1 : x > y ? 1 : 0);
        };
        return rows.slice().sort(order);
    };

    const NEXT = {none: 'ascending', ascending: 'descending', descending: 'none'};
    const sortBy = (table, rows, column) => {
        const heads = Array.from(table.tHead.rows[0].cells);
        const how = NEXT[heads[column].getAttribute('aria-sort') || 'none'];
        heads.forEach((head, i) => head.setAttribute('aria-sort', i === column ? how : 'none'));
        const order = how === 'none' ? rows : sorted(rows, column, how === 'ascending' ? 1 : -1);
        order.forEach((row) => table.tBodies[0].appendChild(row));
    };

    const addSort = (table, rows) => {
        Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
            head.setAttribute('role', 'button');
            head.setAttribute('tabindex', '0');
            head.addEventListener('click', () => sortBy(table, rows, column));
            head.addEventListener('keydown', (event) => {
                if (event.key !== 'Enter' && event.key !== ' ')
                    return;
                event.preventDefault();
                sortBy(table, rows, column);
            });
        });
    };

    const addFilter = (table, rows) => {
        const input = document.createElement('input');
        input.type = 'search';
        input.className = 'filter';
        input.placeholder = 'rows with this text';
        input.setAttribute('aria-label', 'rows with this text');
        input.addEventListener('input', () => {
            const wanted = input.value.toLowerCase();
            rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
        });
        table.parentNode.insertBefore(input, table);
    };

    document.querySelectorAll('table').forEach((table) => {
        const rows = Array.from(table.tBodies[0].rows);
        addSort(table, rows);
        if (rows.length >= LEAST_ROWS)
            addFilter(table, rows);
    });

    // gnuplot draws each series in a group of its own.
    const SERIES = 'g[id*="gnuplot_plot_"]';
    document.querySelectorAll('figure').forEach((figure) => {
        const show = (event) => {
            const on = event.target.closest(SERIES);
            figure.querySelectorAll(SERIES).forEach((group) => group.classList.toggle('faint', on !== null && group !== on));
        };
        figure.addEventListener('mouseover', show);
        figure.addEventListener('mouseleave', () => {
            figure.querySelectorAll(SERIES).forEach((group) => group.classList.remove('faint'));
        });
    });
})();
